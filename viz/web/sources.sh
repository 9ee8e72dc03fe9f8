#!/bin/sh
# Fetches the sources of Lua, md4c and jansson, which the lessons in a browser compile: `viz/web/sources.sh FOLDER`. They
# come with apt-get from the archive of this Debian or Ubuntu, whose signatures apt-get checks, into FOLDER/{lua,md4c,
# jansson}, with the archive's patches: faults mended there are mended here. The system's list of sources stays as it is.
set -eu
folder=$1
[ ! -e "$folder/done" ] || exit 0
command -v apt-get >/dev/null || { echo "sources.sh: there is no apt-get here" >&2; exit 1; }
mkdir -p "$folder/apt/lists/partial" "$folder/apt/cache"
folder=$(cd "$folder" && pwd)
# shellcheck disable=SC1091
. /etc/os-release
case $ID in
  debian) place=http://deb.debian.org/debian parts=main ;;
  ubuntu) place=http://archive.ubuntu.com/ubuntu parts='main universe' ;;
  *) echo "sources.sh: only Debian and Ubuntu are known, and this is $ID" >&2; exit 1 ;;
esac
echo "deb-src [signed-by=/usr/share/keyrings/$ID-archive-keyring.gpg] $place $VERSION_CODENAME $parts" >"$folder/apt/sources.list"
apt() {
  apt-get -qq -o Dir::Etc::SourceList="$folder/apt/sources.list" -o Dir::Etc::SourceParts=- \
    -o Dir::State::Lists="$folder/apt/lists" -o Dir::Cache="$folder/apt/cache" -o APT::Sandbox::User=root "$@"
}
apt update
for pair in lua5.4:lua md4c:md4c jansson:jansson; do
  source=${pair%%:*} name=${pair##*:}
  (cd "$folder/apt" && apt --download-only source "$source" 2>/dev/null) || {
    echo "sources.sh: $source comes without the archive's patches, which cannot be had" >&2
    (cd "$folder/apt" && apt --download-only --tar-only source "$source")
  }
  rm -rf "${folder:?}/$name"
  mkdir "$folder/$name"
  tar -xf "$folder/apt/${source}_"*.orig.tar.* -C "$folder/$name" --strip-components=1
  for changes in "$folder/apt/${source}_"*.debian.tar.*; do
    [ ! -f "$changes" ] || tar -xf "$changes" -C "$folder/$name"
  done
  series=$folder/$name/debian/patches/series
  [ ! -f "$series" ] || sed 's/[ \t]*#.*//; /^$/d' "$series" | while read -r change; do
    patch -d "$folder/$name" -p1 -s -f <"$folder/$name/debian/patches/$change"
  done
done
# Debian's Lua asks its package's build for a path of libraries; a page has none.
echo '#define DEB_HOST_MULTIARCH "wasm32"' >"$folder/lua/src/lua5.4-deb-multiarch.h"
rm -rf "$folder/apt"
touch "$folder/done"
