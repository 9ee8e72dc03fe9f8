#!/bin/sh
# Writes one of the page's fonts as WOFF2: `viz/web/font.sh DejaVuSans OUT`, from Debian's
# fonts-dejavu-core, cut down to what scenes write: Latin, Greek, arrows, mathematics and boxes. Other letters, in a comment
# of one's own, have the system's font. Its licence is in the font's own text.
set -eu
font=${FONTS:-/usr/share/fonts/truetype/dejavu}/$1.ttf
[ -r "$font" ] || { echo "font.sh: no $font; install fonts-dejavu-core, or set FONTS to its folder" >&2; exit 1; }
letters='U+0020-007E,U+00A0-00FF,U+0391-03C9,U+1D40,U+2010-2026,U+2032-203A,U+2070-208E,U+2190-2193,U+2200-221E,U+2248,U+2260-2265'
letters="$letters,U+2500-2518,U+2588-2593,U+25A0-25C0,U+25CB,U+2691,U+2713-2717"
/usr/bin/python3 -m fontTools.subset "$font" --unicodes="$letters" --flavor=woff2 --layout-features=kern,mark,ccmp --no-hinting \
  --drop-tables+=FFTM --output-file="$2.new"
mv "$2.new" "$2"
