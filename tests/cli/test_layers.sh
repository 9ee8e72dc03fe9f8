#!/bin/sh
# The test of the test: `tests/support/layers.sh` accepts a tidy tree, and names each violation planted in another.
# Not with sanitizers: it runs little or nothing of ours.
set -eu
cd "$(dirname "$0")/../.."
here=$PWD
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT

# planted FILE TEXT [COMPLAINT]: the file, with what the checker must say of it.
planted() {
  mkdir -p "$tree/$(dirname "$1")"
  printf '%b' "$2" >"$tree/$1"
  [ -z "${3:-}" ] || printf '%s\n' "$3" >>"$tree/wanted"
}
calls() { # calls FILE CALL COMPLAINT: a function of its own that calls another
  n=$((n + 1))
  planted "$1" "int $2;\\nint f$n(void);\\nint f$n(void) { return $2; }\\n" "$3"
}
n=0
fresh() {
  rm -rf "${tree:?}"/*
  mkdir "$tree/build"
  planted sim/model.h 'double model(double x);\n'
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
  planted lessons/lesson.c '#include "sim/model.h"\nint lesson(void);\nint lesson(void) { return model(1) > 2; }\n'
  planted viz/window/window.c 'int lesson(void);\nint SDL_Init();\nint window(void);\nint window(void) { return SDL_Init() + lesson(); }\n'
  planted sim/algorithms/quick.walk 'algorithm quick\n'
}
check() { # compiles the tree and runs the checker; its output is left in $tree/out
  (cd "$tree" && find . -name '*.c') | while read -r source; do
    mkdir -p "$tree/build/$(dirname "$source")"
    ${CC:-cc} -w -I"$tree" -c "$tree/$source" -o "$tree/build/${source%.c}.o"
  done
  "$here/tests/support/layers.sh" "$tree" "$tree/build" >"$tree/out" 2>&1
}

fresh
planted sim/algorithms/schedule.h ''
planted sim/l2/f.c '#include "sim/algorithms/schedule.h"\n' # l2 stands on algorithms
planted sim/l2/whole.h '#include "sim/l2/whole_part.h"\n'   # a header without a .c is a part of its file
planted sim/l2/whole_part.h '#include "sim/l2/whole.h"\n'
planted viz/scene/said.c 'extern const char *const said;\nconst char *const said = "take quick, or --algorithm quick";\n' # a sentence
planted sim/algorithms/language/implied.c 'extern const char *const implied;\nconst char *const implied = "Q";\n'         # the lines that are implied
planted viz/cli/clean.c '#include <stdio.h>
void clean(FILE *o, char *n);
void clean(FILE *o, char *n) {
  fprintf(o, "%s %d", *n ? "a" : "b", 1);
  fputs("a", o);
  fputs(n, o); /* clean: a test */
}\n'
check || { cat "$tree/out"; exit 1; }

fresh
calls sim/prints.c 'printf()' 'sim/prints.o: sim may not use printf'
calls sim/clocks.c 'time()' 'sim/clocks.o: sim may not use time'
calls sim/draws.c 'rand()' 'sim/draws.o: sim may not use rand'
planted lessons/exits.c 'void exit(int);\nvoid exits(void);\nvoid exits(void) { exit(1); }\n' 'lessons/exits.o: only the program may exit'
calls sim/up.c 'lesson()' 'sim/up.o: sim may not use lesson of lessons'
calls kernels/counters/up_too.c 'window()' 'kernels/counters may not use window of viz/window'
planted sim/includes.c '#include "lessons/engine/course.h"\n' 'sim/includes.c:1: sim may not include lessons/engine/course.h'
planted lessons/engine/course.h ''
planted lessons/locale.h '#include <ctype.h>\n' 'lessons/locale.h:1: ctype.h obeys the locale'
planted kernels/rung.cu '#include "viz/scene/scene.h"\n' 'kernels/rung.cu:1: kernels may not include viz/scene/scene.h'
calls viz/scene/opens.c 'SDL_Init()' 'viz/scene/opens.o: only viz/window may use SDL_Init'
planted sim/counts.c 'static int n_calls;\nint counts(void);\nint counts(void) { return ++n_calls; }\n' 'sim/counts.o: n_calls is writable data'
calls lessons/paints.c 'cairo_create()' 'lessons/paints.o: lessons may not draw'
# floor FROM FLOOR/FILE: a file of that floor includes a header on which it does not stand.
floor() {
  n=$((n + 1))
  planted "sim/$1/floor$n.c" "#include \"sim/$2.h\"\\n" "sim/$1/floor$n.c:1: the floor $1 does not stand on sim/$2.h"
  planted "sim/$2.h" ''
}
floor base problem/shape
floor problem algorithms/traffic
floor algorithms numbers/exact
floor algorithms l2/stamps
floor cache problem/shape
floor l2 numbers/exact
floor machine l2/stamps
floor l2 simulate
planted sim/l2/left.h '#include "sim/l2/middle.h"\n' 'sim/l2/left and sim/l2/middle lie in a circle of files'
planted sim/l2/middle.h '#include "sim/l2/right_half.h"\n'
planted sim/l2/right_half.h '#include "sim/l2/left.h"\n'
planted sim/l2/right.h ''
planted viz/text/near.h '#include "viz/chart/far.h"\n' 'viz/text/near and viz/chart/far lie in a circle of files'
planted viz/chart/far.h '#include "viz/text/near.h"\n'
for file in whole whole_part; do planted sim/l2/$file.c ''; done
planted sim/l2/whole.h '#include "sim/l2/whole_part.h"\n' 'sim/l2/whole and sim/l2/whole_part lie in a circle of files'
planted sim/l2/whole_part.h '#include "sim/l2/whole.h"\n'
planted viz/player/one.c '#include "viz/story/two.h"\n' 'viz/player and viz/story lie in a circle of rooms'
planted viz/player/one.h ''
planted viz/story/two.h ''
planted viz/story/three.c '#include "viz/player/one.h"\n'
planted viz/paper/asks.c 'int two(void);\nint one(void);\nint one(void) { return two(); }\n' 'viz/export and viz/paper lie in a circle of rooms' # by what is linked
planted viz/export/answers.c 'int one(void);\nint two(void);\nint two(void) { return one(); }\n'
planted viz/scene/model.c 'extern int other;\n' 'model is the stem of more than one: sim/model viz/scene/model'
planted viz/scene/pen.h '#ifndef TILEWALK_VIZ_TEXT_PEN_H\n#define TILEWALK_VIZ_TEXT_PEN_H\n#endif\n' \
  'viz/scene/pen.h: its guard is TILEWALK_VIZ_TEXT_PEN_H, not TILEWALK_VIZ_SCENE_PEN_H'
planted viz/scene/taken.c 'extern const char *const taken;\nconst char *const taken = "quick";\n' 'viz/scene/taken.c:2 names an algorithm'
planted sim/l2/tensor.c 'enum { TENSOR_Q, TENSOR_K };\n' 'sim/l2/tensor.c:1 asks for a tensor by its letter'
planted viz/scene/letter.c 'extern const char *const letter;\nconst char *const letter = "O";\n' 'viz/scene/letter.c:2 asks for a tensor by its letter'
planted viz/cli/raw.c '#include <stdio.h>
void raw(FILE *o, char *n);
void raw(FILE *o, char *n) {
  fprintf(o, "a %-8s",
          n);
  if (*n) fputs(n, o);
  fwrite(n, 1, 1, o);
}\n'
for line in 4 6 7; do echo "viz/cli/raw.c:$line: a string goes to a stream as it is" >>"$tree/wanted"; done
if check; then echo "nothing is refused"; exit 1; fi
while read -r wanted; do
  grep -qF "$wanted" "$tree/out" || { echo "refused without naming '$wanted':"; cat "$tree/out"; exit 1; }
done <"$tree/wanted"
echo "$(wc -l <"$tree/wanted") violations named"
