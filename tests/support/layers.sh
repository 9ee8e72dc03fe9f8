#!/bin/sh
# Proves that no room uses what it must not: `tests/support/layers.sh SOURCE BUILD` (or `make layers`).
#
# Sources: every #include "room/..." points along the arrows. Objects (by nm): sim/ refers only to itself and to libc's
# maths, memory, strings and number formatting, and OpenMP's loops; no room refers to a symbol of a room it may not use;
# SDL only in viz/window; the pure rooms hold no writable data. Prints each violation, or one line of success.
#
#   viz -> lessons -> sim      viz -> kernels -> kernels/counters -> sim
#
# Inside sim, each floor uses those that it points to, directly or through others; simulate and sim/time use all, and
# sim/question and sim/answer, over them, use those too:
#
#   numbers -> algorithms -> problem -> base   l2 -> algorithms, machine, cache   machine -> problem   cache -> base
#
# One file lies on another floor than its folder: algorithms/event.h, plain words, on problem's. No two files have one
# stem, so that a name finds its file. No circles: none of rooms (sim/l2, viz/scene, ...), by includes or by symbols;
# none of files by includes (a file: NAME.h and NAME.c; a header NAME_x.h without a .c is a part of NAME), nor of sim,
# kernels/counters, viz/chart and viz/export by calls.
set -eu
SOURCE=$1
BUILD=$(cd "$2" && pwd)
cd "$SOURCE"

rooms='
# Shared by the two checks: which room a path lies in, and which rooms a room may use.
function room_of(path,  parts) {
  if (path == "programs.o") return "sim" # compiled from sim/algorithms/*.walk
  split(path, parts, "/")
  if (parts[1] == "viz") return "viz/" parts[2]
  if (parts[1] == "kernels") return parts[2] == "counters" ? "kernels/counters" : "kernels"
  return parts[1]
}
function may_use(from, to) {
  if (from == to || to == "sim") return 1
  if (from ~ /^viz\//) return to ~ /^(viz\/|lessons$|kernels)/
  return from == "kernels" && to == "kernels/counters"
}
function floor_of(path,  parts) {
  if (split(path, parts, "/") < 3 || parts[1] != "sim") return ""
  if (path ~ /^sim\/algorithms\/event\./) return "problem"
  if (parts[2] == "time") return "" # stands on all, as simulate does
  return parts[2]
}
function stands_on(from, to) {
  if (from ~ /^(question|answer)$/ || to ~ /^(question|answer)$/) return from ~ /^(question|answer)$/
  if (from == "" || to == "" || from == to || to == "base") return to != "" || from == ""
  if (from == "numbers" || from == "algorithms" || from == "machine")
    return to == "problem" || (from == "numbers" && to == "algorithms")
  return from == "l2" && to ~ /^(problem|algorithms|machine|cache)$/
}
function complain(what) { print "layers: " what }
'

find sim kernels lessons viz -name '*.[ch]' -o -name '*.cpp' -o -name '*.cu' -o -name '*.cuh' 2>/dev/null |
  sort >"$BUILD/layers.files"
# shellcheck disable=SC2046  # paths of the repository hold no spaces
includes=$(awk "$rooms"'
  /^[ \t]*#[ \t]*include[ \t]*[<"]/ {
    split($0, quoted, /[<">]/)
    header = quoted[2]; from = room_of(FILENAME); to = room_of(header)
    if (header ~ /\.\./) complain(FILENAME ":" FNR ": includes " header "; write the path from the top")
    else if (header ~ /^(sim|kernels|lessons|viz)\// && !may_use(from, to))
      complain(FILENAME ":" FNR ": " from " may not include " header)
    else if (header ~ /^sim\// && from == "sim" && !stands_on(floor_of(FILENAME), floor_of(header)))
      complain(FILENAME ":" FNR ": the floor " floor_of(FILENAME) " does not stand on " header)
    else if (header ~ /^(ctype|strings)\.h$/) complain(FILENAME ":" FNR ": " header " obeys the locale; include sim/base/ascii.h")
    else if (header ~ /SDL/ && from != "viz/window") complain(FILENAME ":" FNR ": only viz/window may include " header)
  }' $(cat "$BUILD/layers.files"))

# Two programs have a main; the others are still to be renamed.
stems=$(sed 's/\.[a-z]*$//' "$BUILD/layers.files" | sort -u | awk -F/ '
  { n[$NF]++; where[$NF] = where[$NF] " " $0 }
  END {
    for (stem in n)
      if (n[stem] > 1 && stem !~ /^(main)$/) print "layers: " stem " is the stem of more than one:" where[stem]
  }')
# A header's guard follows its path. (Recorded PTX knows the sources that it is of by their text: kernels/lib.)
# shellcheck disable=SC2016 # awk's
guards=$(grep -E '\.h$' "$BUILD/layers.files" |
  grep -vE '^(kernels/lib/rung\.h|viz/library/tilewalk\.h|viz/web/libc/.*)$' | xargs awk '
  FNR == 1 { seen = 0 }
  !seen && /^#ifndef TILEWALK_/ {
    seen = 1; guard = FILENAME; sub(/\.h$/, "", guard)
    gsub(/[^A-Za-z0-9]/, "_", guard); guard = "TILEWALK_" toupper(guard) "_H"
    if ($2 != guard) print "layers: " FILENAME ": its guard is " $2 ", not " guard
  }')
# Pairs of "from to" that lie in or between circles: what neither uses nor is used by another is struck off until
# nothing changes. Input: kind, from, to; kinds are apart.
# shellcheck disable=SC2016 # awk's
strike='
  { edges[$1 " " $2 " " $3] = 1 }
  END {
    do {
      cut = 0; split("", uses); split("", used)
      for (edge in edges) { split(edge, e, " "); uses[e[1], e[2]] = used[e[1], e[3]] = 1 }
      for (edge in edges) {
        split(edge, e, " ")
        if (!((e[1], e[3]) in uses) || !((e[1], e[2]) in used)) { delete edges[edge]; cut = 1 }
      }
    } while (cut)
    for (edge in edges) { split(edge, e, " "); print "layers: " e[2] " and " e[3] " lie in a circle of " e[1] }
  }'
# shellcheck disable=SC2046
circles=$(awk '
  function stem_of(path) { sub(/\.[a-z]+$/, "", path); return path }
  function family_of(stem) { sub(/_[^\/]*$/, "", stem); return stem }
  function room_at(path,  parts) {
    return split(path, parts, "/") < 3 || path ~ /^sim\/time\// ? parts[1] : parts[1] "/" parts[2]
  }
  function edge(kind, from, to) { if (from != to) print kind, from, to }
  BEGIN {
    for (i = 1; i < ARGC; i++) if (ARGV[i] !~ /h$/) has_code[stem_of(ARGV[i])] = 1
  }
  /^[ \t]*#[ \t]*include[ \t]*"(sim|kernels|lessons|viz)\// {
    split($0, quoted, "\"")
    from = stem_of(FILENAME); to = stem_of(quoted[2])
    if ((from in has_code && to in has_code) || family_of(from) != family_of(to)) edge("files", from, to)
    edge("rooms", room_at(FILENAME), room_at(quoted[2]))
  }' $(cat "$BUILD/layers.files") | awk "$strike")

# Programs are taken by what they do: no code but theirs compares, lists or asks for one by name. (Help gives examples,
# a sentence may name one: a literal that is nothing but names, or a state line, is what code works with. Names that are
# words of other things as well, such as an option's, are left out.)
# shellcheck disable=SC2046
named=$(ls sim/algorithms/*.walk >/dev/null 2>&1 && names=$(sed -n 's/^algorithm *//p' sim/algorithms/*.walk |
  grep -vxE 'lazy|linear|mla|sigmoid|softcap|bias|alibi|sink|dropout' | tr '\n' '|' | sed 's/|$//') &&
  grep -nE "\"(algorithm=)?($names)((,| )($names|all))*( [A-Za-z-]+=[^\"]*)?\"" \
    $(grep -E '^(sim|viz|lessons/engine)/' "$BUILD/layers.files" | grep -v '^sim/algorithms/') |
  grep -vE '^[^:]+:[0-9]+: *(/?\*|//)' |
  sed 's/^\([^:]*:[0-9]*\):.*/layers: \1 names an algorithm; sim\/algorithms\/shipped.h takes it by deeds/') || true

# Letters mean something in the lines that are implied where a program declares nothing, and nowhere else: no enum of
# the papers' tensors, no code that asks for one by its letter. (Byte units have letters too.)
# shellcheck disable=SC2046
letters=$(grep -nE "\\b(TENSOR|tensor)_(Q|K|V|S|P|O|STATS|COUNT)\\b|\"([QKVSPO]|[QKVO]_[ij]|[mlL]_i)\"" \
  $(grep -E '^(sim|viz/(scene|story))/' "$BUILD/layers.files" | grep -v '^sim/algorithms/language/') /dev/null |
  grep -vE '^[^:]+:[0-9]+: *(/?\*|//)|/\*.*"[A-Za-z_]+".*\*/|"M"|[.]argument = |OPTION_ROW' |
  sed 's/^\([^:]*:[0-9]*\):.*/layers: \1 asks for a tensor by its letter; take it by what its program says/') || true

# One door for foreign text: a string goes to a stream by viz/text/print.h, or in one of the writers of documents.
# Elsewhere each %s wants the .text of a call (a quote, a number) or a choice of literals; `/* clean: WHY */` says what
# else is safe.
# shellcheck disable=SC2046
raw=$(awk '
  function count(text, what,  n) {
    for (n = 0; match(text, what); n++) text = substr(text, RSTART + RLENGTH)
    return n + 0
  }
  FNR == 1 { statement = "" }
  {
    if (statement == "" && !match($0, /(^|[^a-z_])(v?f?printf|fputs|puts|fwrite)\(/)) next
    if (statement == "") { statement = substr($0, RSTART); line = FNR } else statement = statement $0
    if (statement ~ /\/\* clean: /) statement = ""
    if (statement !~ /;[^"]*$/) next
    given = count(statement, "[)][.]text[,)]|[?] *\"|text_role_(begin|end)[(]")
    wants = statement ~ /printf\(/ ? count(statement, "%[-0-9.*]*s") : statement !~ /(fputs|puts|fwrite)\( *"/
    if (wants > given)
      print "layers: " FILENAME ":" line ": a string goes to a stream as it is; text_say of viz/text/print.h cleans it"
    statement = ""
  }' $(grep -E '^(kernels|lessons|viz)/.*\.c$' "$BUILD/layers.files" |
    grep -vE '^viz/(text/(print|glyphs|table|table_print|markdown)\.c|chart/|export/|paper/|web/|compile/)' |
    grep -vE '^(lessons/engine/lesson_export|viz/kernel/kernel_film)' |
    grep -vE '^viz/cli/(completion|counter_file|trace/|command_trace|crosscheck/)') /dev/null)

# The browser's own objects (viz/web) are no part of the programs: some define what cairo and libc have.
sed -n '/^viz\/web\//d; /^sim\/algorithms\/compile\/main/d; s/\.c$/.o/p' "$BUILD/layers.files" |
  while read -r object; do
  if [ -f "$BUILD/$object" ]; then echo "$object"; fi
done >"$BUILD/layers.objects"
if [ -f "$BUILD/programs.o" ]; then echo programs.o >>"$BUILD/layers.objects"; fi
cd "$BUILD"
if [ ! -s layers.objects ]; then echo "layers: no objects in $BUILD; run make first" >&2; exit 1; fi
# shellcheck disable=SC2046
symbols=$(nm -A -P $(cat layers.objects) | awk "$rooms"'
  BEGIN {
    memory = "(malloc|calloc|realloc|free|aligned_alloc|mem(cpy|move|set|cmp|chr))"
    text = "(str(len|nlen|cmp|ncmp|cpy|ncpy|cat|ncat|chr|rchr|str|spn|cspn|pbrk)|" \
           "str(tod|tof|tol|toll|toul|toull|toimax)|v?snprintf)"
    other = "(qsort|bsearch|abs|labs|llabs|__assert_fail|__stack_chk_fail|__errno_location|" \
            "_GLOBAL_OFFSET_TABLE_|__stpcpy|stpcpy)"
    maths = "(exp|exp2|expm1|log|log2|log10|log1p|pow|sqrt|cbrt|fabs|floor|ceil|round|rint|nearbyint|trunc|l?lround|" \
            "l?lrint|fmod|remainder|fma|fmax|fmin|fdim|ldexp|frexp|scalbl?n|modf|copysign|nextafter|hypot|" \
            "a?(sin|cos|tan)h?|atan2|erfc?|tgamma|i?logb)[fl]?"
    integers = "__[a-z]+(ti|hf|bf|sf|df|xf|tf)[a-z]*[0-9]?" # the compiler, for 128-bit and half-precision arithmetic
    hosts = "^(setv?buf|(__sysv_)?signal|sigaction|sigprocmask|raise|atexit|f?chdir|(un)?setenv|putenv|" \
            "umask|setlocale)$"
    loops = "(GOMP|__kmpc)_[a-z_]+" # OpenMP, for loops that give on all cores what they give on one
    pure = "^(" memory "|" text "|" other "|" maths "|" integers "|" loops ")$"
  }
  {
    object = $1; sub(/:$/, "", object); name = $2
    if ($3 == "U" || $3 == "w") { n++; user[n] = object; used[n] = name }
    else if ($3 ~ /^[A-Z]$/) home[name] = room_of(object)
  }
  END {
    for (i = 1; i <= n; i++) {
      from = room_of(user[i]); name = used[i]
      if (name in home) {
        if (!may_use(from, home[name])) complain(user[i] ": " from " may not use " name " of " home[name])
        continue
      }
      plain = name
      if (plain ~ /^__.*_chk$/ && plain != "__stack_chk_fail") { sub(/^__/, "", plain); sub(/_chk$/, "", plain) }
      sub(/^__isoc(99|23)_/, "", plain)
      if (from == "sim" && plain !~ pure)
        complain(user[i] ": sim may not use " name " (pure C: no I/O, clock, randomness, exit)")
      if (plain ~ /^SDL_/ && from != "viz/window") complain(user[i] ": only viz/window may use " name)
      if (plain ~ /^(_?exit|_Exit|abort|quick_exit)$/ && user[i] !~ /viz\/compile\/|command_view/)
        complain(user[i] ": only main may " name "; a library ends no host")
      if (plain ~ hosts && user[i] !~ /viz\/(window|compile)\/|two_programs|lesson_walk|crosscheck_live/)
        complain(user[i] ": only main may " plain "; a library owns nothing of its host")
      if (plain ~ /^(cairo|pango|g)_/ && from !~ /^viz\//) complain(user[i] ": " from " may not draw (" name ")")
      if (plain ~ /^(v?f?printf|puts|putchar|fopen|fwrite|fputs|time|clock|clock_gettime|getenv|s?rand)$/ &&
          from == "viz/scene")
        complain(user[i] ": viz/scene draws and nothing else (" name ")")
    }
  }')
# shellcheck disable=SC2046
data=$(nm -A -f sysv $(cat layers.objects) | awk -F'|' "$rooms"'
  { path = $1; sub(/:.*/, "", path); name = $1; sub(/^[^:]*:/, "", name); gsub(/ /, "", name); section = $7 }
  path ~ /^viz\/(window|web)\/|two_programs|request\/own/ || name ~ /^never/ { next }
  $4 ~ /OBJECT|TLS/ && section ~ /^(\.data|\.bss|\.tdata|\.tbss|\*COM\*)/ && section !~ /^\.data\.rel\.ro/ {
    complain(path ": " name " is writable data; state belongs to the caller")
  }')

# shellcheck disable=SC2046
linked=$(nm -A -P $(cat layers.objects) | awk '
  function room_at(path,  parts) {
    return split(path, parts, "/") < 3 || path ~ /^sim\/time\// ? parts[1] : parts[1] "/" parts[2]
  }
  { object = $1; sub(/:$/, "", object) }
  $3 == "U" { n++; user[n] = object; used[n] = $2 }
  $3 ~ /^[TDRB]$/ { home[$2] = object }
  END {
    for (i = 1; i <= n; i++) {
      from = room_at(user[i]); to = room_at(home[used[i]])
      if (used[i] in home && from != to) print "rooms", from, to
      if (used[i] in home && user[i] != home[used[i]] && user[i] ~ /^(sim|kernels\/counters|viz\/(chart|export))\//)
        print "calls", user[i], home[used[i]]
    }
  }' | awk "$strike")

if [ -n "$includes$stems$guards$circles$linked$named$letters$raw$symbols$data" ]; then
  printf '%s\n' "$includes" "$stems" "$guards" "$circles" "$linked" "$named" "$letters" "$raw" "$symbols" "$data" |
    grep . | sort -u
  exit 1
fi
echo "layers: $(wc -l <layers.objects) objects, $(wc -l <layers.files) files, no room uses what it must not"
