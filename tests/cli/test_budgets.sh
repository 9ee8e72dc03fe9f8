#!/bin/bash
# Programs (.walk) and kernel descriptions of others end in time and within memory: each command here has 5 s of CPU
# and, without sanitizers, 512 MiB. Loops of 2^40 steps are counted, not walked; what is nested or long past all use is
# refused.
set -u
# shellcheck source=tests/support/expect.sh
. "$(dirname "$0")/../support/expect.sh"
memory=524288
(ulimit -v $memory && "$tilewalk" --version >/dev/null 2>&1) || memory=unlimited # sanitizers map terabytes
run() { (ulimit -t 5 -v $memory && exec "$tilewalk" "$@"); }
# repeat N TEXT: TEXT so many times over.
repeat() { awk -v n="$1" -v t="$2" 'BEGIN { for (; n > 0; n--) printf "%s", t; exit }'; }
# program NAME SCORES: fa2 under another name, its scores computed as given.
program() {
  awk -v s="$2" '/^algorithm/ { $2 = "mine" } / S = Q_i/ { sub(/S = .*/, "S = " s) } 1' sim/algorithms/fa2.walk \
    >"$work/$1.walk"
}

# 2^40 rows of each: 4 N^2 d FLOPs of the two products, 4 x 2^80 x 64 = 309,485,009,821,345,068,724,781,056; half of it
# causal.
program mine 'Q_i K_j^T / sqrt(d)'
expect 0 '309.5 YFLOP' sim --algorithm "$work/mine.walk" -N 1T --block 1 -d 64 --details
expect 0 '154.7 YFLOP' sim --algorithm "$work/mine.walk" -N 1T --block 1 -d 64 --causal --details
expect 0 'mine' sim --algorithm "$work/mine.walk" -N 1T --block 1 --gpu h200
expect 0 'mine' sweep --algorithm "$work/mine.walk" --values 1G,1T --block 1 --csv
expect 2 'more than 2^62 steps' render --algorithm "$work/mine.walk" --scene tiles -N 1T --block 1 -o "$work/x.png"
expect 2 'blocks; at most' sim --algorithm "$work/mine.walk" -N 1M --block 1 -d 1 --mask strided:4

# Of 2^20 documents of one token a block of keys asks the rows that see it, not 67 million; a key under a mask of blocks
# asks first the block row that the band shows it first. seconds N WORD...: it is answered within that of CPU.
seconds() { [ $memory = unlimited ] || (ulimit -t "$1" && shift && exec "$tilewalk" "$@") >/dev/null || failed=1; }
seconds 1 sim -N 1M --mask documents:1 --gpu h100-sxm
seconds 2 sim -N 128K --causal --mask strided:4 --algorithm fa2 --gpu h200

# A program that is wrong: exit status 1, the place as JSON, and a line beside the figures of other commands.
program wrong '2 x Q_i K_j^T / sqrt(d)'
expect 1 'O is wrong: without a mask, row ' algorithms "$work/wrong.walk"
expect 1 '"output": "O_i"' algorithms "$work/wrong.walk" --json
expect 1 '"first_line": 13' algorithms "$work/wrong.walk" --json
expect 1 "Line 13 as 'S = Q_i K_j^T / sqrt(d)' makes it right" algorithms "$work/wrong.walk"
expect 0 'O is right: in fp16' algorithms "$work/mine.walk" --precision fp16
expect 0 'wrong.walk: O is wrong' sim --algorithm "$work/wrong.walk" -N 64
expect 0 'wrong.walk: O is wrong' sweep --algorithm "$work/wrong.walk" --csv
run sweep --algorithm "$work/wrong.walk" -o "$work/x.svg" --csv 2>&1 >/dev/null | grep -c 'O is wrong' | grep -qx 1 ||
  { echo 'a picture and its rows: the line is not there once'; failed=1; }
expect 0 'wrong.walk: O is wrong' render --algorithm "$work/wrong.walk" -N 64 --block 16 --size 640x360 -o "$work/x.png"
expect 0 'wrong.walk: O is wrong' trace --algorithm "$work/wrong.walk" -N 64 --block 16
expect 0 'wrong.walk: O is wrong' roofline --algorithm "$work/wrong.walk" -N 64 --gpu h100
expect 0 'wrong.walk: O is wrong' advise --algorithm "$work/wrong.walk" -N 64

# Nested as deep as the file's size allows, and 10,000 deep.
program deep "$(repeat 80 '(')Q_i K_j^T$(repeat 80 ')')"
expect 2 'deep.walk:13: ' sim --algorithm "$work/deep.walk" -N 64
program words "$(repeat 2000 '(')Q_i K_j^T$(repeat 2000 ')')"
expect 2 'words.walk:13: the line has more than 160 words' sim --algorithm "$work/words.walk" -N 64
program signs "$(repeat 4000 -)Q_i K_j^T"
expect 2 'signs.walk:13: the line has more than 160 words' sim --algorithm "$work/signs.walk" -N 64
program deepest "$(repeat 10000 '(')Q_i K_j^T$(repeat 10000 ')')"
expect 2 'larger than 6143 bytes' sim --algorithm "$work/deepest.walk" -N 64
{ cat "$work/mine.walk" && repeat 500 'kernel k
'; } >"$work/kernels.walk"
expect 2 'kernels.walk:[0-9]*: ' sim --algorithm "$work/kernels.walk" -N 64
{ printf 'algorithm x\ntitle x\nsource x\n' && repeat 350 'tensor T fp32
'; } >"$work/lines.walk"
expect 2 'lines.walk:[0-9]*: ' sim --algorithm "$work/lines.walk" -N 64
repeat 500000 '# nothing
' >"$work/huge.walk"
expect 2 'larger than 6143 bytes' algorithms "$work/huge.walk"

# Kernels: too long, endless, and as long as is read with one key again and again.
repeat 500000 '# nothing
' >"$work/huge.kernel"
expect 2 'too long for a description; at most 65536' sim -N 64 --gpu h200 --kernel "$work/huge.kernel"
expect 2 'larger than' sim -N 64 --gpu h200 --kernel /dev/zero
{ cat assets/kernels/fa2-sm90 && repeat 5000 'warps = 4
'; } >"$work/keys.kernel"
expect 2 'keys.kernel:[0-9]*: ' sim -N 64 --gpu h200 --kernel "$work/keys.kernel"

# A long question says in time how long it will take, off a terminal too; a claim here takes 0.1 s.
long() {
  exec 3< <(ulimit -t 1 && exec "$tilewalk" "$@" 2>&1)
  grep -m 1 "^$1.*: about .* in all\$" <&3 || failed=1
  kill $! 2>/dev/null # it has said so
}
long sim -N 128K --mask strided:4 --block 16
long sweep --over batch -N 128K --mask strided:4 --block 16
long advise -N 128K --mask strided:4
long advise -N 128K --heads 32 --gpu h100-sxm --causal
awk 'BEGIN { for (; n < 60; n++) printf "## X-%d\n\n- article: X, 1\n- says: %d.\n- claimed: %d MiB\n\n%s\n\n", n, n, n,
  "```lua\n(function() local s = 0 for k = 1, 4e6 do s = s + k end return s end)()\n```" }' >"$work/claims.md"
long lesson claims --file "$work/claims.md"

# An interrupt leaves a file as it was, and nothing beside it.
mkdir "$work/kept" && echo old >"$work/kept/x.svg"
timeout -s INT 1 "$tilewalk" sweep --over block -N 128K --mask strided:4 -o "$work/kept/x.svg"
[ "$(grep -r '' "$work/kept")" = "$work/kept/x.svg:old" ] || failed=1
exit $failed
