#!/bin/sh
# Files and questions after public reports (ncu exports, address traces), made short: what Tilewalk answers to each. Values
# are worked by hand; model configs: tests/unit/test_model_config.c. WILD_TABLE=1 prints a row for each: what is asked, exit status, what is looked for.
set -u
cd "$(dirname "$0")/../.." || exit 1
tilewalk=${TILEWALK:-build/tilewalk}
case $tilewalk in /*) ;; *) tilewalk=$PWD/$tilewalk ;; esac
TILEWALK_ASSETS=${TILEWALK_ASSETS:-$PWD/assets}
case $TILEWALK_ASSETS in /*) ;; *) TILEWALK_ASSETS=$PWD/$TILEWALK_ASSETS ;; esac
export TILEWALK_ASSETS
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failed=0

# answers STATUS PATTERN ARGUMENT...: exit status, and the pattern in what is printed, whose line breaks are blanks.
answers() {
  wanted=$1 pattern=$2
  shift 2
  "$tilewalk" "$@" >out 2>&1 </dev/null
  status=$?
  [ -z "${WILD_TABLE:-}" ] || echo "$status | $(tr -s ' \n' ' ' <out | grep -o -- "$pattern" | head -1) | tilewalk $*"
  if [ $status != "$wanted" ] || ! tr -s ' \n' ' ' <out | grep -q -- "$pattern"; then
    echo "$*: status $status, not $wanted, or no '$pattern':"
    cat out
    failed=1
  fi
}

# A row of ncu before 2023 has 13 fields under 15 names.
row='"0","1","python3","h","void fmha_fwd_loop_kernel<int>(Params)","t","1","7"'
{
  echo '"ID","Process ID","Process Name","Host Name","Kernel Name","Kernel Time","Context","Stream","Section Name","Metric Name","Metric Unit","Metric Value","Rule Name","Rule Type","Rule Description"'
  echo "$row,\"Command line profiler metrics\",\"dram__bytes.sum\",\"byte\",\"295,808\","
  echo "$row,\"Occupancy\",\"\",\"\",\"\",\"\",\"Warning\",\"limited\""
} >short.csv
answers 0 'read from HBM and written *294,912 to [0-9,]* *295,808' crosscheck --details --ncu short.csv --gpu a100-40gb -N 32 -d 64 --batch 2 --heads 12 --algorithm fa2 --block-q 16 --block-k 128

# A kernel of 79.3 ms whose boundary is exact; HBM was read for 149 MB more than it needs: 1.9 GB/s, as a screen is.
printf 'name = fused16\ntile = 8 x 32\nthreads = 256\nregisters = 56\nshared = 9216 B\n' >fused16.kernel
counters() { # BOUNDARY HBM TIME
  echo '"ID","Kernel Name","Block Size","Grid Size","CC","Metric Name","Metric Unit","Metric Value"'
  launch='"0","fused_attention_kernel","(256, 1, 1)","(512, 128, 1)","12.0"'
  echo "$launch,\"dram__bytes_read.sum\",\"byte\",\"$2\""
  echo "$launch,\"gpu__time_duration.sum\",\"nsecond\",\"$3\""
  echo "$launch,\"l1tex__m_xbar2l1tex_read_bytes.sum\",\"byte\",\"$1\""
}
counters 68786585600 368800000 79300000 >screen.csv
answers 0 'exact.*reads that go with time, 1.9 GB/s over 79.3 ms: a screen of 3840 x 2160 at 60 Hz' crosscheck --details --ncu screen.csv --kernel fused16.kernel --gpu rtx5090 -N 4096 -d 64 --batch 8 --heads 16

printf '\037\213\010\n' >trace
answers 2 'packed with gzip; unpack it: gunzip -c FILE | tilewalk trace -' replay trace --cache 1K,1,16,16

# A trace of 60 MB in 64 MB of address space (with sanitizers nothing starts in that), and one that is stopped.
# shellcheck disable=SC3045  # dash has it
little() { (ulimit -v 65536 && "$tilewalk" "$@"); }
if little --version >out 2>&1; then
  yes '0 1000 80 # sixty characters a line, of which most are comment ' | head -n 1000000 | little replay - --cache 64K --json >out 2>&1
  grep -q '"accesses": 1000000,' out || { cat out; failed=1; }
fi
for after in 1 4 16; do # seconds: a slow machine has not read two lines in one
  { printf '0 0\n0 80\n'; sleep $((after + 1)); } | timeout --preserve-status -s INT $after "$tilewalk" replay - >out 2>err
  stopped=$?
  [ $stopped != 130 ] || [ -s out ] || ! grep -q 'interrupted after line 2; nothing was printed' err || break
  [ $after != 16 ] || { echo "replay is not stopped: status $stopped"; cat out err; failed=1; }
done
# A description that comes through a pipe is read once.
mkfifo pipe || exit 1
cat "$TILEWALK_ASSETS/models/llama-2-70b" >pipe &
answers 0 '"heads": 64' sim --model pipe --json
exit $failed
