#!/bin/sh
# Writes one of the page's fonts as WOFF2: `viz/web/font.sh sans|sans-bold|mono|mono-bold OUT`. DejaVu, from Debian's
# fonts-dejavu-core, cut down to Latin, Greek, arrows, mathematics and boxes; its licence is in the font's own text.
set -eu
case $1 in
  sans) name=DejaVuSans ;;
  sans-bold) name=DejaVuSans-Bold ;;
  mono) name=DejaVuSansMono ;;
  mono-bold) name=DejaVuSansMono-Bold ;;
  *) echo "font.sh: no font '$1'; there are sans, sans-bold, mono and mono-bold" >&2; exit 2 ;;
esac
font=${FONTS:-/usr/share/fonts/truetype/dejavu}/$name.ttf
[ -r "$font" ] || { echo "font.sh: no $font; install fonts-dejavu-core, or set FONTS to its folder" >&2; exit 1; }
letters='U+0020-007E,U+00A0-024F,U+02B0-02FF,U+0370-03FF,U+1D40,U+1D43-1D6A,U+2000-206F,U+2070-209F,U+20D0-20FF'
letters="$letters,U+2100-214F,U+2190-22FF,U+2300-23FF,U+2500-25FF,U+2605-2606,U+2713-2718,U+27E8-27E9,U+FFFD"
/usr/bin/python3 -m fontTools.subset "$font" --unicodes="$letters" --flavor=woff2 --layout-features='*' \
  --drop-tables+=FFTM --output-file="$2.new"
mv "$2.new" "$2"
