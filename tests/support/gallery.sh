#!/bin/sh
# Draws the gallery: `tests/support/gallery.sh` writes assets/pictures/GALLERY.md and a thumbnail for each command in it.
#
# The films of the README and the front page are drawn too.
# With --check it draws nothing and says whether the page lists these commands, and whether each picture is there.
set -eu
cd "$(dirname "$0")/../.."
tilewalk=${TILEWALK:-build/tilewalk}
folder=assets/pictures
page=$folder/GALLERY.md
[ "${1:-}" != --check ] || page=$(mktemp)
export TILEWALK_ASSETS=assets
if [ "${1:-}" != --check ]; then
  for film in light:moving dark:moving-dark; do
    "$tilewalk" render --algorithm standard,fa2 -N 1K -d 64 --block 128 --frames 0:544:4 --frame-ms 148 --size 1056x594 \
      --theme ${film%%:*} -o $folder/${film#*:}.webp
  done
fi

# picture NAME 'WHAT IT SHOWS' WORDS...: one entry.
picture() {
  name=$1 what=$2
  shift 2
  if [ "$page" = $folder/GALLERY.md ]; then
    "$tilewalk" "$@" --size 640x360 -o "$folder/gallery/$name.png"
  fi
  words=''
  for word; do
    case $word in *' '*) words="$words '$word'" ;; *) words="$words $word" ;; esac
  done
  printf '\n**%s**\n\n![%s](gallery/%s.png)\n\n    tilewalk%s -o %s.png\n' "$what" "$what" "$name" "$words" "$name" >>"$page"
}

cat >"$page" <<'TEXT'
# Gallery

Each picture with the command that draws it. `--size 1920x1080` and `--theme dark` go with all; a name that ends in `.svg` or `.pdf`
gives that format. `make pictures` draws this page anew.
TEXT
small='N=64 d=16 block=8 causal=1'
long='N=1024 d=64 block=128 causal=1'
picture walk 'The walk over the tiles: what is on chip, and what flies there' render --scene walk --state "algorithm=fa2 $long" --step 155.5
picture softmax 'Online softmax: a larger score rescales what was summed' render --scene softmax --state "algorithm=fa2 $small" --step 120
picture standard 'Standard attention: every score goes out' render --scene walk --state "algorithm=standard $long" --step 131.5
picture growth 'Traffic against the length' sweep --over N --from 1K --to 256K
picture block 'Traffic against the block size, until it no longer fits' sweep --over block
picture hbm 'What L2 leaves for HBM on an A100' sweep --gpu a100-80gb --heads 16 --from 1K --to 8K --metric hbm --title 'HBM traffic on an A100'
picture roofline 'The roofline of an H200' sim --roofline --gpu h200 -N 16K --heads 16 --algorithm standard,fa2
picture gpus 'One run on several GPUs, with the least time each can take' sweep --over gpu=a100-80gb,h100-sxm,h200 -N 16K --heads 16 --title 'At least this long'
picture decode 'Decode: one query against a long cache, heads packed as rows' render --scene many -N 1 --seq-len-k 8K --heads 32 --kv-heads 8 --algorithm fa2-split --gpu h200 --step 100
picture warp 'A column on the banks of shared memory' render --scene bank -d 64 --step 40
picture serving 'Four sequences of a service: their pages, a shared prefix once' render --scene many --lengths 1000,257,640,64 --prefix 48 --step 40
picture piles 'What standard attention and FlashAttention-2 carry' render --algorithm standard,fa2 -N 1K -d 64 --block 128 --step 544
picture time 'A CTA in time' render --scene time --state "kernel=fa3_overlap N=4096 d=128 heads=16 gpu=h100-sxm" --step 700

if [ "${1:-}" = --check ]; then
  cmp "$page" $folder/GALLERY.md || { echo "the gallery lists other commands: make pictures"; exit 1; }
  rm "$page"
  sed -n 's/^!\[.*\](\(.*\))$/\1/p' $folder/GALLERY.md | while read -r file; do [ -s "$folder/$file" ] || { echo "no $file"; exit 1; }; done
fi
