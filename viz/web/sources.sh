#!/bin/sh
# Fetches the sources of Lua, md4c and jansson, which the lessons in a browser compile: `viz/web/sources.sh FOLDER`. They
# come with apt-get from the archive of this Debian or Ubuntu, whose signatures apt-get checks, into FOLDER/{lua,md4c,
# jansson}, with the archive's patches: faults mended there are mended here. The system's list of sources stays as it is.
set -eu
[ ! -e "$1/done" ] || exit 0
command -v apt-get >/dev/null || { echo "sources.sh: there is no apt-get here" >&2; exit 1; }
rm -rf "$1"
mkdir -p "$1/apt/lists/partial"
cd "$1"
# shellcheck disable=SC1091
. /etc/os-release
case $ID in
  debian) place=http://deb.debian.org/debian parts=main ;;
  ubuntu) place=http://archive.ubuntu.com/ubuntu parts='main universe' ;;
  *) echo "sources.sh: only Debian and Ubuntu are known, and this is $ID" >&2; exit 1 ;;
esac
echo "deb-src [signed-by=/usr/share/keyrings/$ID-archive-keyring.gpg] $place $VERSION_CODENAME $parts" >apt/list
fetch() {
  apt-get -qq -o Dir::Etc::SourceList="$PWD/apt/list" -o Dir::Etc::SourceParts=- -o Dir::State::Lists="$PWD/apt/lists" \
    -o Dir::Cache="$PWD/apt" -o APT::Sandbox::User=root "$@" >/dev/null
}
fetch update
for name in lua5.4 md4c jansson; do
  if fetch source "$name" 2>/dev/null; then
    mv "$name"-*/ "${name%5.4}"
  else
    echo "sources.sh: $name comes without the archive's patches, which cannot be had" >&2
    fetch --tar-only source "$name"
    tar -xf "$name"_*.orig.tar.* --one-top-level="${name%5.4}" --strip-components=1
  fi
done
# Debian's Lua asks its package's build for a path of libraries; a page has none.
echo '#define DEB_HOST_MULTIARCH "wasm32"' >lua/src/lua5.4-deb-multiarch.h
rm -rf apt
echo >'done'
