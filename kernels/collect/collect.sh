#!/bin/sh
# Measures the ladder on this machine's GPU: `kernels/collect/collect.sh STAGE [OUT]`, OUT a folder (default: assets/counters).
# Files lie as assets/counters/INDEX.md says: OUT/GPU/EXPERIMENT/CARD.csv; CARD=second names another card than the first. Add a row to the index for each.
#
#   verify     every rung over its grid of shapes: outputs right, counted bytes equal        -> GPU/verify
#   sanitize   compute-sanitizer: memcheck, racecheck, synccheck over every rung             -> GPU/sanitize
#   time       the rungs beside PyTorch's attention backends, in one run                     -> GPU/time
#   hopper     what rungs 8 and 9 read and write by hardware counters, beside the model     -> GPU/hopper
#   ring       ring attention on the GPUs of one host: a block, an exchange, the ring        -> GPU/ring
#   regimes    rungs 8, 9 and 11 beside PyTorch's kernels, at shapes of many regimes         -> GPU/regimes
#   packed-times, flex-times  FlashAttention-2 over sequences of unequal lengths and windows; FlexAttention by its mask -> GPU/packed-times, GPU/flex-times
#   decode-times  one query a sequence by FlashAttention-2 and cuDNN, cold and warm           -> GPU/decode-times
#   ncu        hardware counters over a grid of shapes                                       -> GPU/kernels
#   more       the same of decode and the backward pass                                      -> GPU/more
#   hopper-more  the same of the backward pass by wgmma                                        -> GPU/hopper-more
#   l2         more counters of L2, short launches three times; rungs with tensor cores      -> GPU/l2
#   fresh      the same once, for shapes between those of l2                                 -> GPU/fresh
#   later      the same once, for others again                                               -> GPU/later
#   l2-places  the long shapes of these three six times each, with Q, K, V and O elsewhere    -> GPU/l2-places
#   longer     the same once, of more than 64K tokens                                        -> GPU/longer
#   l2-one-pass  the shapes of l2 three times in three orders; every counter in one pass of ncu, three launches for a row -> GPU/l2-one-pass
#   others     the same for PyTorch's attention kernels (FlashAttention-2, cuDNN, ...)       -> GPU/others
#   short      short shapes of these four times each, in another order each time                  -> GPU/others-short
#   places     long shapes of these six times each, with Q, K and V elsewhere each time      -> GPU/others-places
#   turns      the same twelve times each, begun with any GPC, few counters                  -> GPU/others-turns
#   one-pass   the same and the short ones, spilled registers where they were; every counter in one pass of ncu, three launches for a row -> GPU/others-one-pass
#   rows       one head by the number of its row blocks, counted in the same way; of cuDNN's and the memory-efficient kernel -> GPU/others-rows
#   others-longer  one head and four of more than 64K tokens, counted in the same way        -> GPU/others-longer
#   placement  the side of L2 of each SM, and the SM of each CTA of a launch                 -> GPU/placement
#   scan       hardware counters of lists of reads and stores (probes/scan_lists.h)        -> GPU/scan
#   scan-places  the same with all that is read and stored at eight places in turn           -> GPU/scan-places
#   sets       which lines share a set of L2                                                 -> GPU/sets
#   replacement  what a set keeps of lines that are read in turn                             -> GPU/replacement
#   spills     how much room in L2 spilled registers take from what is read                  -> GPU/spills
#   coalescer  the same of SMs that ask for the same lines at chosen moments                 -> GPU/coalescer
#   pace       how evenly the CTAs of the rungs with tensor cores go, and how far apart      -> GPU/pace
#   clocks     the clock of each SM, under load and idle                                     -> GPU/clocks
#   steps      when the CTAs of these rungs ask for tiles, with hardware counters            -> GPU/steps
#   steps-shared  the same where SMs have more than one CTA, or some one more than others       -> GPU/steps-shared
#   ends       how evenly the CTAs of an SM share it, the kernel undisturbed                   -> GPU/ends
#   waves      where and when their CTAs run in launches of several waves, with the fabric traffic -> GPU/waves
#   begins     launches of one wave that begin with each GPC in turn, with the fabric traffic  -> GPU/begins
#   begins-replayed  the same with more counters, so that each launch is run several times      -> GPU/begins-replayed
#   stamps     clock stamps of rungs 7, 8, 9 and 11, tile by tile                              -> GPU/stamps, GPU/pipeline
#   stores     how evenly the CTAs of PyTorch's attention kernels go, seen from outside     -> GPU/stores
#   stores-causal  the same under a mask                                                     -> GPU/stores-causal
#   gpcs       how fast the clocks of GPCs run under these kernels                           -> GPU/gpcs
#
# RUNGS names some of the rungs for `verify` and `sanitize`. ORDER, a number, shuffles the shapes of `ncu`, `l2`, `fresh`, `later`, `l2-places`, `longer`. KERNELS names some of the kernels for `others`, `short`, `places`, `turns`, `one-pass`, `rows` and `others-longer`; KEEP a folder for
# ncu's own files of `ncu`, `l2`, `l2-places`, `scan`, `spills`, `coalescer`, `steps`, `steps-shared`, `ends`, `waves`, `begins`, `others`, `short`, `places`, `turns`, `one-pass`, `rows`, `others-longer`. PROGRAM names another build/tilewalk-kernels;
# JOBS limits how many checks run at once. Needs: a GPU; ncu and compute-sanitizer of the CUDA Toolkit for their stages; python3, with
# PyTorch for `time`, `others`, `short`, `places`, `turns`, `one-pass`, `rows`, `others-longer`, `stores`, `stores-causal` and `gpcs`.
set -u
cd "$(dirname "$0")/../.." || exit 1
stage=${1:-}
out=${2:-assets/counters}
program=${PROGRAM:-build/tilewalk-kernels}
jobs=${JOBS:-8}
rungs=${RUNGS:-standard_naive standard_tiled fa1 fa2_scalar fa2_causal fa2_tensor fa2_async fa2_wgmma fa3_overlap fa2_decode fa2_decode_paged fa2_backward fa2_backward_twice fa3_backward}
mkdir -p "$out" || exit 1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
gpu=$(nvidia-smi --query-gpu=name --format=csv,noheader 2>/dev/null | head -1)
[ -n "$gpu" ] || { echo "collect.sh: no NVIDIA GPU here" >&2; exit 2; }
short=$(echo "$gpu" | sed 's/NVIDIA //; s/ .*//' | tr '[:upper:]' '[:lower:]')

# file_of EXPERIMENT [csv|txt]: where its recording of this card goes; makes the folder.
file_of() {
  mkdir -p "$out/$short/$1"
  echo "$out/$short/$1/${CARD:-first}.${2:-csv}"
}

# What a reader needs to judge the numbers below it.
provenance() {
  echo "# gpu: $gpu"
  echo "# driver: $(nvidia-smi --query-gpu=driver_version --format=csv,noheader | head -1)"
  echo "# cuda: $(nvcc --version 2>/dev/null | sed -n 's/.*release \([0-9.]*\).*/\1/p')"
  echo "# ncu: $(ncu --version 2>/dev/null | sed -n 's/^Version \([^ ]*\).*/\1/p')"
  echo "# date: $(date -u +%Y-%m-%d)"
  echo "# kernels: $(cat kernels/*/*.cu kernels/*/*.cuh | sha256sum | cut -c1-16) (sha256 of kernels/*/*.cu, *.cuh), commit ${COMMIT:-$(git rev-parse --short HEAD 2>/dev/null)}"
  echo "# command: $*"
}

ncu="ncu --clock-control none --cache-control all --csv --page raw --print-units base"
metrics_of() {
  case $1 in
  ladder | more | hopper*) python3 kernels/collect/collect_ncu.py metrics "$1" ;;
  *) ncu --query-metrics | python3 kernels/collect/collect_ncu.py metrics "$1" ;;
  esac
}

# What ncu counts in one pass: hits, and misses, take one each.
turn=dram__bytes_read.sum,dram__bytes_write.sum,lts__t_sectors_srcunit_ltcfabric.sum
alone="$turn,lts__t_sectors_srcunit_tex_op_read.sum lts__t_sectors_srcunit_tex_lookup_hit.sum lts__t_sectors_srcunit_tex_lookup_miss.sum"

# Runs the lines of standard input as shell commands, $jobs at a time.
in_parallel() { xargs -d '\n' -P "$jobs" -I{} sh -c '{}'; }

case $stage in
verify)
  for rung in ${RUNGS:-eager_cublas $rungs}; do
    echo "$program --verify --count --csv --rung $rung >$work/$rung.csv 2>$work/$rung.err || echo '$rung: see verify/first.csv' >>$work/failed"
  done | in_parallel
  { provenance "kernels/collect/collect.sh verify"; for rung in $rungs; do head -1 "$work/$rung.csv"; break; done; for f in "$work"/*.csv; do tail -n +2 "$f"; done; } >"$(file_of verify)"
  cat "$work"/*.err
  awk -F, '!/^#/ && $1 != "mode" { n[$2 " " $1]++; good[$2 " " $1] += $13; if ($1 == "verify" && $15 / $16 > worst[$2 " " $1]) worst[$2 " " $1] = $15 / $16 }
    END { for (k in n) printf "%-26s %4d of %4d good, worst row at %.2f of its tolerance\n", k, good[k], n[k], worst[k] }' "$(file_of verify)" | sort
  [ ! -s "$work/failed" ] || { cat "$work/failed"; exit 1; }
  ;;
sanitize)
  for tool in memcheck racecheck synccheck; do
    for rung in $rungs; do
      for shape in "-N 150 --seq-len-k 170 -d 64 --heads 2 --kv-heads 1 --causal" "-N 130 -d 128 --batch 2" "-N 200 --seq-len-k 3 -d 64 --causal" "-N 1 --seq-len-k 300 -d 128 --heads 8 --kv-heads 2"; do
        echo "compute-sanitizer --tool $tool --error-exitcode 9 $program --once --rung $rung $shape >$work/\$\$.log 2>&1; code=\$?; echo \"$tool $rung $shape: exit \$code, \$(grep -E 'ERROR SUMMARY|RACECHECK SUMMARY' $work/\$\$.log | sed 's/=* *//')\" >>$work/summary; [ \$code = 0 ] || head -40 $work/\$\$.log >>$work/details"
      done
    done
  done | in_parallel
  sort "$work/summary" >"$(file_of sanitize txt)"
  [ ! -s "$work/details" ] || cat "$work/details" >>"$(file_of sanitize txt)"
  echo "$(grep -c ': exit 0,' "$(file_of sanitize txt)") of $(wc -l <"$work/summary") runs clean"
  [ ! -s "$work/details" ] || { head -60 "$work/details"; exit 1; }
  ;;
time | regimes | packed-times | flex-times | decode-times)
  { provenance "kernels/collect/collect.sh $stage"; PROGRAM=$program LIBRARY=${LIBRARY:-$(dirname "$program")/libladder.so} python3 kernels/collect/times.py "${stage%-time*}"; } | tee "$(file_of "$stage")"
  ;;
ring)
  { provenance "kernels/collect/collect.sh ring"; python3 kernels/collect/collect_ring.py 2 4; } | tee "$(file_of ring)"
  ;;
ncu | more | hopper | hopper-more | l2 | fresh | later | l2-places | longer)
  [ "$stage" = ncu ] && grid=ladder name=kernels || grid=$stage name=$stage
  python3 kernels/collect/collect_ncu.py shapes "$grid" >"$work/shapes" || exit 1
  metrics=$(metrics_of "$grid")
  provenance "$ncu --metrics $metrics $program --once --shapes SHAPES${ORDER:+ (in order $ORDER of collect_ncu.py)}" >"$work/about"
  $ncu --kernel-name 'regex:naive_|tiled_|fa1|fa2_|fa3_' --metrics "$metrics" "$program" --once --shapes "$work/shapes" >"$work/ncu.csv" || { tail -5 "$work/ncu.csv"; exit 1; }
  [ -z "${KEEP:-}" ] || cp "$work/ncu.csv" "$KEEP/$name.ncu.csv"
  python3 kernels/collect/collect_ncu.py merge "$grid" "$work/ncu.csv" >"$work/rows" && cat "$work/about" "$work/rows" >"$(file_of "$name")" || exit 1
  wc -l "$(file_of "$name")"
  ;;
l2-one-pass)
  for order in 1 2 3; do
    ORDER=$order python3 kernels/collect/collect_ncu.py shapes l2 >"$work/shapes" || exit 1
    i=0
    for metrics in $alone; do
      i=$((i + 1))
      $ncu --kernel-name 'regex:fa2_' --metrics "$metrics" "$program" --once --shapes "$work/shapes" >"$work/$i.csv" || { tail -5 "$work/$i.csv"; exit 1; }
    done
    ORDER=$order python3 kernels/collect/collect_ncu.py merge l2 "$work"/[1-3].csv >"$work/merged" || exit 1
    if [ $order = 1 ]; then cat "$work/merged"; else tail -n +3 "$work/merged"; fi >>"$work/rows"
  done
  provenance "$ncu --metrics METRICS $program --once --shapes SHAPES (in orders 1 to 3 of collect_ncu.py, METRICS each of $alone)" >"$work/about"
  cat "$work/about" "$work/rows" >"$(file_of l2-one-pass)"
  wc -l "$(file_of l2-one-pass)"
  ;;
others | places | short | turns | one-pass | rows | others-longer)
  case $stage in others) how=run name=others ;; others-longer) how=longer name=others-longer ;; *) how=$stage name=others-$stage ;; esac
  metrics=$(metrics_of l2)
  case $stage in
  turns) metrics=$turn ;;
  one-pass | rows | others-longer) metrics=$alone ;;
  places) metrics=$metrics,sm__cycles_elapsed.avg,sm__cycles_elapsed.max,sm__cycles_elapsed.min ;;
  esac
  [ "$stage" != rows ] || KERNELS=${KERNELS:-cudnn-sm90 mem-efficient-sm90}
  for kernel in ${KERNELS:-$(python3 kernels/collect/others.py kernels)}; do
    to=$work/$kernel
    for some in $metrics; do # the same calls each time; the first counters in KERNEL.csv
      $ncu --kernel-name "regex:$(python3 kernels/collect/others.py pattern "$kernel")" --metrics "$some" \
        python3 kernels/collect/others.py "$how" "$kernel" "$work/$kernel.calls" >"$to.csv" || { tail -5 "$to.csv"; exit 1; }
      [ -z "${KEEP:-}" ] || cp "$work/$kernel.calls" "$to.csv" "$KEEP"
      to=$to.again
    done
  done
  provenance "$ncu --metrics $(echo "$metrics" | sed 's/ /, then again with /g') python3 kernels/collect/others.py $how KERNEL CALLS" >"$work/about"
  sed -n '/^#/p' "$work"/*.calls | sort -u >>"$work/about"
  python3 kernels/collect/others.py merge "$work" >"$work/rows" && cat "$work/about" "$work/rows" >"$(file_of "$name")" || exit 1
  wc -l "$(file_of "$name")"
  ;;
stores | stores-causal | gpcs)
  name=$stage
  provenance "python3 kernels/collect/others.py $stage libwatch.so" >"$work/about"
  python3 kernels/collect/others.py "$stage" "$(dirname "$program")/libwatch.so" >"$work/rows" && cat "$work/about" "$work/rows" >"$(file_of "$name")" || exit 1
  wc -l "$(file_of "$name")"
  ;;
placement | sets | replacement | pace | clocks)
  provenance "$program --$stage" >"$work/about"
  $program "--$stage" >"$work/rows" && cat "$work/about" "$work/rows" >"$(file_of "$stage")" || exit 1
  wc -l "$(file_of "$stage")"
  ;;
stamps)
  $program --stamps >"$work/rows" || exit 1
  { provenance "$program --stamps"; grep -v '^stamp,' "$work/rows"; } >"$(file_of stamps)"
  mkdir -p "$out/$short/pipeline"
  python3 kernels/collect/split_stamps.py "$work/rows" "$out/$short/pipeline" "$gpu" "$(date -u +%Y-%m-%d)"
  ;;
scan | scan-places | spills | coalescer | steps | steps-shared | ends | waves | begins | begins-replayed)
  metrics=$(python3 kernels/collect/collect_ncu.py metrics "$stage") study=--${stage%-replayed}
  [ "$stage" != begins-replayed ] || metrics=$(metrics_of l2)
  provenance "$ncu --metrics $metrics $program $study" >"$work/about"
  $ncu --kernel-name 'regex:scan_granules|read_and_spill|read_at_once|fa2_' --metrics "$metrics" "$program" "$study" >"$work/ncu.csv" || { tail -5 "$work/ncu.csv"; exit 1; }
  [ -z "${KEEP:-}" ] || cp "$work/ncu.csv" "$KEEP/$stage.ncu.csv"
  python3 kernels/collect/collect_ncu.py named "$stage" "$work/ncu.csv" >"$work/rows" && cat "$work/about" "$work/rows" >"$(file_of "$stage")" || exit 1
  wc -l "$(file_of "$stage")"
  ;;
*)
  sed -n '2,/^set -u/{/^set -u/d;s/^# \{0,1\}//p;}' "$0" >&2
  exit 2
  ;;
esac
