#!/bin/sh
# A file's name is a stranger's text: one that holds an escape and a mark of direction is given to every command that
# takes a file. Neither reaches the screen or a result, whether the command succeeds or refuses.
set -u
tilewalk=$(realpath "${TILEWALK:-build/tilewalk}")
tree=$PWD
TILEWALK_ASSETS=$tree/assets
export TILEWALK_ASSETS
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "FAIL: $1"; exit 1; }
escape=$(printf '\033')
turn=$(printf '\342\200\256')
name="./e${escape}[31m${turn}x"
cd "$work" || exit 1
cp "$tree/assets/gpus/h200" "$name.gpu"
cp "$tree/assets/kernels/fa2-sm90" "$name.kernel"
cp "$tree/assets/models/qwen3-8b" "$name.model"
sed 's/^algorithm fa2/algorithm mine/' "$tree/sim/algorithms/fa2.walk" >"$name.walk"
cp "$tree/lessons/course/template.md" "$name.md"
cp "$tree/lessons/stories/my-kernel.md" "$name.story"
printf ' L 10,4\n' >"$name.din"
printf '"ID","Metric Name"\n' >"$name.csv"
printf '.##\n' >"$name.mask"
printf '.version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k() { ret; }\n' >"$name.ptx"
n=0
clean() {
  timeout 300 "$tilewalk" "$@" >out 2>err </dev/null
  status=$?
  [ "$status" -le 2 ] || fail "'$1 $2' ended with $status"
  [ -s out ] || [ -s err ] || [ -e "$name.svg" ] || fail "'$1 $2' said nothing"
  if grep -q -e "$escape" -e "$turn" out err; then fail "'$1 $2' prints a file's name as it is: $(cat -v out err | head -3)"; fi
  n=$((n + 1))
}
for format in '' --json --csv; do
  for run in "sim --gpu=$name.gpu" "sim --gpu=h200 --kernel=$name.kernel" "sim --algorithm=$name.walk" \
    "sim --kernel=$name.csv" "sim -N=4 --mask=$name.mask" "sim --gpu=h200 --model=$name.model" \
    "sweep --over=gpu --values=h200,$name.gpu" "sweep --values=1K,2K --algorithm=$name.walk" \
    "roofline --gpu=$name.gpu" "advise --gpu=$name.gpu" "kvcache --model=$name.model" "gpus $name.gpu" \
    "kernels $name.kernel" "algorithms $name.walk" "replay $name.din" "crosscheck --ncu=$name.csv" "kernel $name.ptx"; do
    # shellcheck disable=SC2086  # words, and the name has no blank
    clean $run $format
  done
done
clean lesson "$name.md"
clean lesson --lint "$name.md"
clean lesson --new "$name-new"
clean lesson --answers "$name.md"
clean lesson --export-moodle "$name.md"
clean story --lint "$name.story"
clean render --gpu "$name.gpu" -o "$name.svg"
clean render -o "$name.xyz"
clean trace --algorithm "$name.walk" -N 64 -d 16 --block 16
clean softmax --scores "$name"
clean view --state "$name=1"
clean "$name" there
clean tour -o "$name.tour"
printf '__global__ void k() { printf("\\033[31mred\\n"); asm volatile("// \\033[31m"); }\n' >"$name.cu" # what a kernel prints, and what clang makes of it
clean kernel "$name.cu" --grid 1 --block 1
clean kernel "$name.cu" --ptx
clean sim "--$name"
echo "$n requests"
