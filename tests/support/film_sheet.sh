#!/bin/sh
# Draws the twelve pictures of the film side by side, to be looked at: `tests/support/film_sheet.sh FOLDER [DESIGNS]` writes
# each in light and dark, at 1280 x 720, 1920 x 1080, 3840 x 2160 and on a phone, and FOLDER/index.html, which has them in
# rows, each under its idea; beside them the pictures of DESIGNS, named as below, where that folder is given.
set -eu
cd "$(dirname "$0")/../.."
tilewalk=${TILEWALK:-build/tilewalk}
to=$1 designs=${2:-}
export TILEWALK_ASSETS="${TILEWALK_ASSETS:-assets}"
mkdir -p "$to"
{
  echo '<!doctype html><meta charset="utf-8"><title>The film</title>'
  echo '<style>body{font:16px sans-serif;margin:24px}img{height:270px;margin:4px;border:1px solid #ccc}</style>'
} >"$to/index.html"

# picture NAME 'ITS IDEA' WORDS...: a row.
picture() {
  name=$1 idea=$2
  shift 2
  printf '<h2>%s: %s</h2>\n' "$name" "$idea" >>"$to/index.html"
  if [ -n "$designs" ] && [ -e "$designs/$name.png" ]; then
    cp "$designs/$name.png" "$to/$name-design.png"
    printf '<img src="%s-design.png" alt="design">\n' "$name" >>"$to/index.html"
  fi
  for size in 1280x720 1920x1080 3840x2160 390x844; do
    for theme in light dark; do
      file=$name-$size-$theme.png
      "$tilewalk" "$@" --size $size --theme $theme -o "$to/$file"
      [ $size = 1920x1080 ] || [ $size$theme = 3840x2160dark ] ||
        printf '<a href="%s"><img src="%s" alt="%s %s"></a>\n' "$file" "$file" $size $theme >>"$to/index.html"
    done
  done
}

race='render --scene race -N 4096 -d 128 --batch 4 --heads 32 --block 128 --gpu h100-sxm --algorithm standard,fa1,fa2 --clock time'
pipeline='render --scene pipeline -N 4096 -d 128 --step 2400'
picture 01-story-beat 'somebody leads you, and asks first' story --beat 7 --ask
picture 02-bytes-over-time 'the orange bytes are never moved' render --scene tiles --algorithm fa2 -N 1024 -d 64 --block 128 --step 250
# shellcheck disable=SC2086
picture 03-race-film 'same chip, same link, fewer squares to carry' $race --step 1400
# shellcheck disable=SC2086
picture 03-race-end 'the ratio stays' $race --step 8320
# shellcheck disable=SC2086
picture 04-pipeline-tile 'while both warpgroups are in softmax, the tensor cores have no work' $pipeline
# shellcheck disable=SC2086
picture 05-pipeline-row-block 'the gaps in the beats cost more than the seam' $pipeline --zoom 1
# shellcheck disable=SC2086
picture 06-pipeline-d64 'at d = 64 softmax sets the pace' $pipeline --zoom 3
picture 07-backward 'the same grid, by columns; dQ pays for it' render --scene tiles --algorithm fa2-backward -N 1024 -d 64 --block 128 --step 230
picture 08-decode 'all 64 parts are read at once' render --scene decode --algorithm fa2-split -N 1 --seq-len-k 32K --heads 8 -d 128 --splits 8 --gpu h100-sxm --step 800
picture 09-masks 'a mask is a list of tiles nobody loads' render --scene causal --algorithm fa2 -N 2048 -d 128 --block 128 --causal --mask documents:448,640,384,576 --step 606
picture 10-zoom 'follow one key down to its bank' render --scene zoom --algorithm fa2 -N 4096 -d 128 --block 128 --step 3000
picture 11-memory 'which line, how much, and why' kernel viz/web/kernels/transpose.cu --entry transpose_tiled
echo "$to/index.html"
