#!/bin/bash
# Builds and tests all in a system of 32 bits: i686.sh ROOT, the folder of a Debian that root made there with
#   mmdebstrap --arch=i386 --include=clang-19,g++,libcairo2-dev,libcmocka-dev,libgif-dev,libjansson-dev,liblua5.4-dev,\
#   libmd4c-dev,libpango1.0-dev,libsdl2-dev,libwebp-dev,lld-19,make,pkg-config,procps,python3,xauth,xdotool,xvfb,zlib1g-dev bookworm ROOT
# It takes clang of 16 or later: gcc has no integers of 128 bits there. SSE2 is what the Makefile sets; `crosscheck --cpu`
# refuses, as a GPU's pointers have 8 bytes. Status 77 without such a folder.
set -eu
cd "$(dirname "$0")/../.."
root=${1:-}
case $([ -z "$root" ] || chroot "$root" clang-19 -dumpmachine 2>/dev/null) in
i?86-*) ;;
*) echo "no system of 32 bits with clang-19"; exit 77 ;;
esac
mkdir -p "$root/src"
git ls-files -z | tar --null -T - -cf - | tar -C "$root/src" -xf -
mountpoint -q "$root/proc" || { mount -t proc proc "$root/proc" && trap 'umount "$root/proc"' EXIT; }
chroot "$root" env -i HOME=/root PATH=/usr/bin:/bin:/usr/sbin:/sbin CC=clang-19 CXX=clang++-19 nice make -C /src "-j${JOBS:-1}" check
