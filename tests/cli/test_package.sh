#!/bin/sh
# The version, the source archive, and the Debian package, made of these objects and looked into.
# Not with sanitizers: it runs little or nothing of ours.
set -u
cd "$(dirname "$0")/../.." || exit 1
skip() { echo "skipped: $1"; exit 77; }
fail() { echo "FAIL: $1"; exit 1; }
git rev-parse HEAD >/dev/null 2>&1 || skip "no repository here"
BUILD=${BUILD:-$PWD/build}
case $BUILD in *san*) skip "once is enough, without sanitizers" ;; esac
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset MAKEFLAGS MAKELEVEL TILEWALK TILEWALK_ASSETS

make --no-print-directory BUILD="$work/build" dist >"$work/log" 2>&1 || { cat "$work/log"; fail "make dist"; }
archive=$(find "$work/build" -name 'tilewalk-*.tar.gz')
version=$(basename "$archive" .tar.gz)
version=${version#tilewalk-}
said=$("$BUILD/tilewalk" --version | head -n 1)
[ "${said%%-g*}" = "tilewalk ${version%%-g*}" ] || fail "the program says '$said', the archive is of $version"
tar -C "$work" -xzf "$archive" || fail "the archive"
tree=$work/tilewalk-$version
# shellcheck disable=SC2016  # make's
say='say-version: ; @echo $(VERSION)'
[ "$(cat "$tree/.version")" = "$version" ] || fail "the archive does not know its version"
[ "$(make -s -C "$tree" BUILD="$work/build" --eval "$say" say-version)" = "$version" ] || fail "without git the version is another"
rm "$tree/.version"
[ "$(make -s -C "$tree" BUILD="$work/build" --eval "$say" say-version)" = "$(sed -n 's/^## //p' "$tree/.github/CHANGELOG.md" | head -n 1)" ] || fail "the changelog does not give the version"
[ "$(git ls-files | wc -l)" = "$(find "$tree" -type f -o -type l | wc -l)" ] || fail "the archive lacks files"

# On a GPU server without cairo and the rest: what the kernels need is made, and nothing asks for more.
PKG_CONFIG_LIBDIR=/nonexistent make -n -C "$tree" BUILD="$work/bare" NVCC=nvcc kernels "$work/bare/libladder.so" >"$work/log" 2>&1 ||
  { tail "$work/log"; fail "the kernels want what they do not need"; }
grep -q 'ladder/fa3_overlap.plain.o' "$work/log" || fail "make kernels makes no kernels"
if grep -qE 'cairo|jansson|viz/' "$work/log"; then fail "the kernels are made with what draws"; fi

[ -n "${TILEWALK_DEB:-}" ] || skip "the Debian package is built where TILEWALK_DEB is set"
command -v dh >/dev/null || skip "no debhelper; .ci/setup ci installs it"
# Of the objects that are there, with their flags: only links are made anew. Without DEB_OBJECTS it compiles all, hardened.
DEB_BUILD_OPTIONS=nocheck FLAGS="CFLAGS='-O1 -g1'" make --no-print-directory BUILD="$work/build" DEB_FLAGS='-d -nc' DEB_OBJECTS="$BUILD" deb >"$work/log" 2>&1 ||
  { tail -n 30 "$work/log"; fail "make deb"; }
package=$(find "$work/build/deb" -maxdepth 1 -name 'tilewalk_*.deb')
dpkg-deb -x "$package" "$work/root" || fail "no package"
for file in usr/bin/tilewalk usr/lib/tilewalk/tilewalk-full usr/share/man/man1/tilewalk.1.gz usr/share/tilewalk/assets/gpus/h200 \
  usr/share/doc/tilewalk/copyright usr/share/bash-completion/completions/tilewalk usr/share/applications/tilewalk.desktop \
  usr/share/icons/hicolor/scalable/apps/tilewalk.svg usr/share/tilewalk/sim/algorithms/LANGUAGE.md usr/share/tilewalk/sim/l2/MODEL.md \
  usr/share/tilewalk/web/index.html; do
  [ -e "$work/root/$file" ] || fail "the package lacks $file"
done
[ "$(ls "$work/root/usr/bin")" = tilewalk ] || fail "the package has more than one command"
"$work/root/usr/bin/tilewalk" sim --gpu h200 -N 1K >/dev/null || fail "the packaged program does not run"
"$work/root/usr/bin/tilewalk" lesson --list >/dev/null || fail "the packaged full program does not run"
dpkg-deb -f "$package" Depends | grep -q libcairo2 || fail "the package does not depend on cairo"
echo "packaged $version"
