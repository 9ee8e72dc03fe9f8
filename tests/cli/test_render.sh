#!/bin/sh
# Pictures and animations as files: their format, size, frames, and the state that they carry.
set -u
tilewalk=${TILEWALK:-build/tilewalk}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "FAIL: $1"; exit 1; }
render() { "$tilewalk" render "$@" || fail "render $*"; }
bytes() { od -An -v -tx1 "$1" | tr -s '\n ' ' '; } # of a file, a blank between two
for scene in walk hierarchy softmax time piles bank many; do
  render --scene $scene --step 40 --size 640x360 -o "$work/a.png"
  case $(bytes "$work/a.png") in ' 89 50 4e 47 0d 0a 1a 0a 00 00 00 0d 49 48 44 52 00 00 02 80 00 00 01 68 '*) ;; *) fail "$scene is no PNG of 640 x 360" ;; esac
  grep -aq 'algorithm=fa2 N=64 d=16 causal=1 block=8.*step=40' "$work/a.png" || fail "$scene carries no state"
done
# Steps 10, 14, 18 and 20.
render --scene code --size 480x270 --frames 10:20:4 -o "$work/frame-%03d.png"
[ "$(find "$work" -name 'frame-*' | wc -l)" = 4 ] || fail "a sequence has other frames"
# From step 121 to 122 V is loaded: both ends and three pictures on the way, each another.
render --scene hierarchy --size 320x180 --frames 121:122 --sub-frames 4 -o "$work/move-%d.png"
[ "$(cksum "$work"/move-*.png | cut -d' ' -f1 | sort -u | wc -l)" = 5 ] || fail "nothing moves between steps"
render --scene hierarchy --size 320x180 --step 121.25 -o "$work/between.png"
grep -aq 'step=121.25' "$work/between.png" || fail "a step between is not carried"
frames() { render --scene "$2" --size 480x270 ${3:+--frames "$3"} -o "$work/run.$1"; }
case $("$tilewalk" --version) in *WebP*)
  frames webp code 0:24:2
  [ "$(grep -ao ANMF "$work/run.webp" | wc -l)" = 13 ] || fail "WebP has no 13 frames" ;;
esac
# The whole run is 276 events of four frames; 28 skips in rows of 7 to 1 are seven.
case $("$tilewalk" --version) in *GIF*)
  for run in 0:24:2=13 =1021; do
    frames gif tiles "${run%=*}"
    [ "$(bytes "$work/run.gif" | grep -o '21 f9 04' | wc -l)" = "${run#*=}" ] || fail "GIF of '$run' has other frames"
    case $(bytes "$work/run.gif") in ' 47 49 46 38 39 61 e0 01 0e 01 '*' 3b ') ;; *) fail "no whole GIF of 480 x 270" ;; esac
  done ;;
esac
