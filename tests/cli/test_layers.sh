#!/bin/sh
# The test of the test: `tests/support/layers.sh` accepts a tidy tree and names each violation planted in it.
# Not with sanitizers: it runs little or nothing of ours.
set -eu
cd "$(dirname "$0")/../.."
here=$PWD
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT

fresh() {
  rm -rf "${tree:?}"/*
  mkdir -p "$tree/sim" "$tree/lessons" "$tree/kernels/counters" "$tree/viz/scene" "$tree/viz/window" "$tree/build"
  cat >"$tree/sim/model.h" <<'C'
double model(double x);
C
  cat >"$tree/sim/model.c" <<'C'
#include "sim/model.h"
#include <math.h>
#include <stdio.h>
static const char *const names[] = {"a", "b"};
double model(double x) {
  char text[40];
  snprintf(text, sizeof text, "%s %g", names[x > 0], x);
  return exp(x) + text[0];
}
C
  printf '#include "sim/model.h"\nint lesson(void);\nint lesson(void) { return model(1) > 2; }\n' >"$tree/lessons/lesson.c"
  printf 'int lesson(void);\nint SDL_Init(unsigned);\nint window(void);\nint window(void) { return SDL_Init(0) + lesson(); }\n' >"$tree/viz/window/window.c"
}
check() { # compiles the tree and runs the checker; its output is left in $tree/out
  for source in $(cd "$tree" && find . -name '*.c'); do
    mkdir -p "$tree/build/$(dirname "$source")"
    ${CC:-cc} -I"$tree" -c "$tree/$source" -o "$tree/build/${source%.c}.o"
  done
  "$here/tests/support/layers.sh" "$tree" "$tree/build" >"$tree/out" 2>&1
}
refused() { # refused TEXT: the checker must fail and its output must name TEXT
  if check; then echo "not refused: $1"; exit 1; fi
  grep -qF "$1" "$tree/out" || { echo "refused without naming '$1':"; cat "$tree/out"; exit 1; }
}

fresh
check || { cat "$tree/out"; exit 1; }

fresh; printf '#include <stdio.h>\nvoid f(void);\nvoid f(void) { printf("%%d", 1); }\n' >"$tree/sim/f.c"
refused 'sim/f.o: sim may not use printf'
fresh; printf '#include <time.h>\nlong f(void);\nlong f(void) { return time(0); }\n' >"$tree/sim/f.c"
refused 'sim/f.o: sim may not use time'
fresh; printf '#include <stdlib.h>\nint f(void);\nint f(void) { return rand(); }\n' >"$tree/sim/f.c"
refused 'sim/f.o: sim may not use rand'
fresh; printf '#include <stdlib.h>\nvoid f(void);\nvoid f(void) { exit(1); }\n' >"$tree/lessons/f.c"
refused 'lessons/f.o: only the program may exit'
fresh; printf 'int lesson(void);\nint f(void);\nint f(void) { return lesson(); }\n' >"$tree/sim/f.c"
refused 'sim/f.o: sim may not use lesson of lessons'
fresh; printf 'int window(void);\nint f(void);\nint f(void) { return window(); }\n' >"$tree/kernels/counters/f.c"
refused 'kernels/counters may not use window of viz/window'
fresh; printf '#include "lessons/engine/lesson.h"\n' >"$tree/sim/f.c"; : >"$tree/lessons/lesson.h"
refused 'sim/f.c:1: sim may not include lessons/engine/lesson.h'
fresh; printf '#include <ctype.h>\n' >"$tree/lessons/f.h"
refused 'lessons/f.h:1: ctype.h obeys the locale'
fresh; printf '#include "viz/scene/scene.h"\n' >"$tree/kernels/rung.cu"
refused 'kernels/rung.cu:1: kernels may not include viz/scene/scene.h'
fresh; printf 'int SDL_Init(unsigned);\nint f(void);\nint f(void) { return SDL_Init(0); }\n' >"$tree/viz/scene/f.c"
refused 'viz/scene/f.o: only viz/window may use SDL_Init'
fresh; printf 'static int calls;\nint f(void);\nint f(void) { return ++calls; }\n' >"$tree/sim/f.c"
refused 'sim/f.o: calls is writable data'
fresh; printf 'int cairo_create(void);\nint f(void);\nint f(void) { return cairo_create(); }\n' >"$tree/lessons/f.c"
refused 'lessons/f.o: lessons may not draw'
planted_in() { # planted_in FILE TEXT: in a fresh tree
  fresh
  mkdir -p "$tree/$(dirname "$1")"
  printf '%b' "$2" >"$tree/$1"
}
touched() { mkdir -p "$tree/$(dirname "$1")" && : >"$tree/$1"; }
planted_in sim/base/f.c '#include "sim/problem/shape.h"\n'; touched sim/problem/shape.h
refused 'sim/base/f.c:1: the floor base does not stand on sim/problem/shape.h'
planted_in sim/problem/f.c '#include "sim/algorithms/traffic.h"\n'; touched sim/algorithms/traffic.h
refused 'sim/problem/f.c:1: the floor problem does not stand on sim/algorithms/traffic.h'
planted_in sim/algorithms/f.c '#include "sim/numbers/softmax.h"\n'; touched sim/numbers/softmax.h
refused 'sim/algorithms/f.c:1: the floor algorithms does not stand on sim/numbers/softmax.h'
planted_in sim/algorithms/f.c '#include "sim/l2/clock.h"\n'; touched sim/l2/clock.h
refused 'sim/algorithms/f.c:1: the floor algorithms does not stand on sim/l2/clock.h'
planted_in sim/cache/f.c '#include "sim/problem/shape.h"\n'; touched sim/problem/shape.h
refused 'sim/cache/f.c:1: the floor cache does not stand on sim/problem/shape.h'
planted_in sim/l2/f.c '#include "sim/numbers/softmax.h"\n'; touched sim/numbers/softmax.h
refused 'sim/l2/f.c:1: the floor l2 does not stand on sim/numbers/softmax.h'
planted_in sim/machine/f.c '#include "sim/l2/clock.h"\n'; touched sim/l2/clock.h
refused 'sim/machine/f.c:1: the floor machine does not stand on sim/l2/clock.h'
planted_in sim/l2/f.c '#include "sim/simulate.h"\n'; touched sim/simulate.h
refused 'sim/l2/f.c:1: the floor l2 does not stand on sim/simulate.h'
planted_in sim/l2/f.c '#include "sim/algorithms/schedule.h"\n'; touched sim/algorithms/schedule.h
check || { cat "$tree/out"; exit 1; } # l2 stands on algorithms
planted_in sim/l2/left.h '#include "sim/l2/middle.h"\n'
printf '#include "sim/l2/right_half.h"\n' >"$tree/sim/l2/middle.h"
printf '#include "sim/l2/left.h"\n' >"$tree/sim/l2/right_half.h"
touched sim/l2/right.h
refused 'sim/l2/left and sim/l2/middle lie in a circle of files'
planted_in viz/text/left.h '#include "viz/chart/right.h"\n'
mkdir -p "$tree/viz/chart"
printf '#include "viz/text/left.h"\n' >"$tree/viz/chart/right.h"
refused 'viz/text/left and viz/chart/right lie in a circle of files'
planted_in sim/l2/whole.h '#include "sim/l2/whole_part.h"\n'
printf '#include "sim/l2/whole.h"\n' >"$tree/sim/l2/whole_part.h"
check || { cat "$tree/out"; exit 1; } # a header without a .c is a part of its file
touched sim/l2/whole.c; touched sim/l2/whole_part.c
refused 'sim/l2/whole and sim/l2/whole_part lie in a circle of files'
planted_in viz/text/one.c '#include "viz/chart/two.h"\n'; touched viz/text/one.h
mkdir -p "$tree/viz/chart"; touched viz/chart/two.h
printf '#include "viz/text/one.h"\n' >"$tree/viz/chart/three.c"
refused 'viz/text and viz/chart lie in a circle of rooms'
planted_in viz/text/one.c 'int two(void);\nint one(void);\nint one(void) { return two(); }\n'
mkdir -p "$tree/viz/chart"; printf 'int one(void);\nint two(void);\nint two(void) { return one(); }\n' >"$tree/viz/chart/two.c"
refused 'viz/chart and viz/text lie in a circle of rooms' # by what is linked
planted_in viz/scene/model.c 'extern int other;\n'
refused 'model is the stem of more than one: sim/model viz/scene/model'
planted_in viz/scene/pen.h '#ifndef TILEWALK_VIZ_TEXT_PEN_H\n#define TILEWALK_VIZ_TEXT_PEN_H\n#endif\n'
refused 'viz/scene/pen.h: its guard is TILEWALK_VIZ_TEXT_PEN_H, not TILEWALK_VIZ_SCENE_PEN_H'
fresh; mkdir -p "$tree/sim/algorithms"; printf 'algorithm quick\n' >"$tree/sim/algorithms/quick.walk"
printf 'extern const char *const said;\nconst char *const said = "take quick, or --algorithm quick";\n' >"$tree/viz/scene/said.c"
check || { cat "$tree/out"; exit 1; } # a sentence may name an algorithm
printf 'extern const char *const taken;\nconst char *const taken = "quick";\n' >"$tree/viz/scene/taken.c"
refused 'viz/scene/taken.c:2 names an algorithm'
planted_in sim/l2/letter.c 'enum { TENSOR_Q, TENSOR_K };\n'
refused 'sim/l2/letter.c:1 asks for a tensor by its letter'
planted_in viz/scene/letter.c 'extern const char *const letter;\nconst char *const letter = "O";\n'
refused 'viz/scene/letter.c:2 asks for a tensor by its letter'
planted_in sim/algorithms/language/implied.c 'extern const char *const implied;\nconst char *const implied = "Q";\n'
check || { cat "$tree/out"; exit 1; } # the lines that are implied
echo "34 trees checked"
