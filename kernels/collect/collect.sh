#!/bin/sh
# Measures the ladder on this machine's GPU: `kernels/collect/collect.sh STAGE [OUT]`, OUT a folder (default: assets/counters).
#
#   verify     every rung over its grid of shapes: outputs right, counted bytes equal        -> verify.csv
#   sanitize   compute-sanitizer: memcheck, racecheck, synccheck over every rung             -> sanitize.txt
#   time       the rungs beside PyTorch's attention backends, in one run                     -> GPU_time.csv
#   ncu        hardware counters over a grid of shapes                                       -> GPU_kernels.csv
#   l2         more counters of L2, short launches three times; rungs with tensor cores      -> GPU_l2.csv
#   fresh      the same once, for shapes between those of l2                                 -> GPU_fresh.csv
#   later      the same once, for others again                                               -> GPU_later.csv
#   l2-places  the long shapes of these three six times each, with Q, K, V and O elsewhere    -> GPU_l2_places.csv
#   longer     the same once, of more than 64K tokens                                        -> GPU_longer.csv
#   l2-one-pass  the shapes of l2 three times in three orders; every counter in one pass of ncu, three launches for a row -> GPU_l2_one_pass.csv
#   others     the same for PyTorch's attention kernels (FlashAttention-2, cuDNN, ...)       -> GPU_others.csv
#   short      short shapes of these four times each, in another order each time                  -> GPU_others_short.csv
#   places     long shapes of these six times each, with Q, K and V elsewhere each time      -> GPU_others_places.csv
#   turns      the same twelve times each, begun with any GPC, few counters                  -> GPU_others_turns.csv
#   one-pass   the same and the short ones, spilled registers where they were; every counter in one pass of ncu, three launches for a row -> GPU_others_one_pass.csv
#   rows       one head by the number of its row blocks, counted in the same way; of cuDNN's and the memory-efficient kernel -> GPU_others_rows.csv
#   others-longer  one head and four of more than 64K tokens, counted in the same way        -> GPU_others_longer.csv
#   bandwidth  reading speed against buffer size                                             -> GPU_bandwidth.csv
#   placement  the side of L2 of each SM, and the SM of each CTA of a launch                 -> GPU_placement.csv
#   scan       hardware counters of lists of reads and stores (counters/scan_lists.h)        -> GPU_scan.csv
#   scan-places  the same with all that is read and stored at eight places in turn           -> GPU_scan_places.csv
#   sets       which lines share a set of L2                                                 -> GPU_sets.csv
#   replacement  what a set keeps of lines that are read in turn                             -> GPU_replacement.csv
#   spills     how much room in L2 spilled registers take from what is read                  -> GPU_spills.csv
#   coalescer  the same of SMs that ask for the same lines at chosen moments                 -> GPU_coalescer.csv
#   pace       how evenly the CTAs of the rungs with tensor cores go, and how far apart      -> GPU_pace.csv
#   clocks     the clock of each SM, under load and idle                                     -> GPU_clocks.csv
#   steps      when the CTAs of these rungs ask for tiles, with hardware counters            -> GPU_steps.csv
#   steps-shared  the same where SMs have more than one CTA, or some one more than others       -> GPU_steps_shared.csv
#   ends       how evenly the CTAs of an SM share it, the kernel undisturbed                   -> GPU_ends.csv
#   waves      where and when their CTAs run in launches of several waves, with the fabric traffic -> GPU_waves.csv
#   begins     launches of one wave that begin with each GPC in turn, with the fabric traffic  -> GPU_begins.csv
#   begins-replayed  the same with so many counters that each launch is run again and again      -> GPU_begins_replayed.csv
#   stores     how evenly the CTAs of PyTorch's attention kernels go, seen from outside     -> GPU_stores.csv
#   stores-causal  the same under a mask                                                     -> GPU_stores_causal.csv
#   gpcs       how fast the clocks of GPCs run under these kernels                           -> GPU_gpcs.csv
#
# ORDER, a number, shuffles the shapes of `ncu`, `l2`, `fresh`, `later`, `l2-places`, `longer`. KERNELS names some of the kernels for `others`, `short`, `places`, `turns`, `one-pass`, `rows` and `others-longer`; KEEP a folder for
# ncu's own files of `ncu`, `l2`, `l2-places`, `scan`, `spills`, `coalescer`, `steps`, `steps-shared`, `ends`, `waves`, `begins`, `others`, `short`, `places`, `turns`, `one-pass`, `rows`, `others-longer`. PROGRAM names another build/tilewalk-kernels;
# JOBS limits how many checks run at once. Needs: a GPU; ncu and compute-sanitizer of the CUDA Toolkit for their stages; python3, with
# PyTorch for `time`, `others`, `short`, `places`, `turns`, `one-pass`, `rows`, `others-longer`, `stores`, `stores-causal` and `gpcs`.
set -u
cd "$(dirname "$0")/../.." || exit 1
stage=${1:-}
out=${2:-assets/counters}
program=${PROGRAM:-build/tilewalk-kernels}
jobs=${JOBS:-8}
rungs="standard_naive standard_tiled fa1 fa2_scalar fa2_causal fa2_tensor fa2_async"
mkdir -p "$out" || exit 1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
gpu=$(nvidia-smi --query-gpu=name --format=csv,noheader 2>/dev/null | head -1)
[ -n "$gpu" ] || { echo "collect.sh: no NVIDIA GPU here" >&2; exit 2; }
short=$(echo "$gpu" | sed 's/NVIDIA //; s/ .*//' | tr '[:upper:]' '[:lower:]')

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
metrics_of() { ncu --query-metrics | python3 kernels/collect/collect_ncu.py metrics "$1"; }

# What ncu counts in one pass: hits, and misses, take one each.
turn=dram__bytes_read.sum,dram__bytes_write.sum,lts__t_sectors_srcunit_ltcfabric.sum
alone="$turn,lts__t_sectors_srcunit_tex_op_read.sum lts__t_sectors_srcunit_tex_lookup_hit.sum lts__t_sectors_srcunit_tex_lookup_miss.sum"

# Runs the lines of standard input as shell commands, $jobs at a time.
in_parallel() { xargs -d '\n' -P "$jobs" -I{} sh -c '{}'; }

case $stage in
verify)
  for rung in eager_cublas $rungs; do
    echo "$program --verify --count --csv --rung $rung >$work/$rung.csv 2>$work/$rung.err || echo '$rung: see verify.csv' >>$work/failed"
  done | in_parallel
  { provenance "kernels/collect/collect.sh verify"; head -1 "$work/fa1.csv"; for f in "$work"/*.csv; do tail -n +2 "$f"; done; } >"$out/verify.csv"
  cat "$work"/*.err
  awk -F, '!/^#/ && $1 != "mode" { n[$2 " " $1]++; good[$2 " " $1] += $13; if ($1 == "verify" && $15 / $16 > worst[$2 " " $1]) worst[$2 " " $1] = $15 / $16 }
    END { for (k in n) printf "%-26s %4d of %4d good, worst row at %.2f of its tolerance\n", k, good[k], n[k], worst[k] }' "$out/verify.csv" | sort
  [ ! -s "$work/failed" ] || { cat "$work/failed"; exit 1; }
  ;;
sanitize)
  for tool in memcheck racecheck synccheck; do
    for rung in $rungs; do
      for shape in "-N 150 --seq-len-k 170 -d 64 --heads 2 --kv-heads 1 --causal" "-N 130 -d 128 --batch 2" "-N 200 --seq-len-k 3 -d 64 --causal"; do
        echo "compute-sanitizer --tool $tool --error-exitcode 9 $program --once --rung $rung $shape >$work/\$\$.log 2>&1; code=\$?; echo \"$tool $rung $shape: exit \$code, \$(grep -E 'ERROR SUMMARY|RACECHECK SUMMARY' $work/\$\$.log | sed 's/=* *//')\" >>$work/summary; [ \$code = 0 ] || head -40 $work/\$\$.log >>$work/details"
      done
    done
  done | in_parallel
  sort "$work/summary" >"$out/sanitize.txt"
  [ ! -s "$work/details" ] || cat "$work/details" >>"$out/sanitize.txt"
  echo "$(grep -c ': exit 0,' "$out/sanitize.txt") of $(wc -l <"$work/summary") runs clean"
  [ ! -s "$work/details" ] || { head -60 "$work/details"; exit 1; }
  ;;
time)
  { provenance "kernels/collect/collect.sh time"; PROGRAM=$program python3 kernels/collect/collect_time.py; } | tee "$out/${short}_time.csv"
  ;;
ncu | l2 | fresh | later | l2-places | longer)
  [ "$stage" = ncu ] && grid=ladder name=kernels || grid=$stage name=$(echo "$stage" | tr - _)
  python3 kernels/collect/collect_ncu.py shapes "$grid" >"$work/shapes" || exit 1
  metrics=$(metrics_of "$grid")
  provenance "$ncu --metrics $metrics $program --once --shapes SHAPES${ORDER:+ (in order $ORDER of collect_ncu.py)}" >"$work/about"
  $ncu --kernel-name 'regex:naive_|tiled_|fa1|fa2_' --metrics "$metrics" "$program" --once --shapes "$work/shapes" >"$work/ncu.csv" || { tail -5 "$work/ncu.csv"; exit 1; }
  [ -z "${KEEP:-}" ] || cp "$work/ncu.csv" "$KEEP/$name.ncu.csv"
  python3 kernels/collect/collect_ncu.py merge "$grid" "$work/ncu.csv" >"$work/rows" && cat "$work/about" "$work/rows" >"$out/${short}_$name.csv" || exit 1
  wc -l "$out/${short}_$name.csv"
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
  cat "$work/about" "$work/rows" >"$out/${short}_l2_one_pass.csv"
  wc -l "$out/${short}_l2_one_pass.csv"
  ;;
others | places | short | turns | one-pass | rows | others-longer)
  case $stage in others) how=run name=others ;; others-longer) how=longer name=others_longer ;; *) how=$stage name=others_$(echo "$stage" | tr - _) ;; esac
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
  python3 kernels/collect/others.py merge "$work" >"$work/rows" && cat "$work/about" "$work/rows" >"$out/${short}_$name.csv" || exit 1
  wc -l "$out/${short}_$name.csv"
  ;;
stores | stores-causal | gpcs)
  name=$(echo "$stage" | tr - _)
  provenance "python3 kernels/collect/others.py $stage libwatch.so" >"$work/about"
  python3 kernels/collect/others.py "$stage" "$(dirname "$program")/libwatch.so" >"$work/rows" && cat "$work/about" "$work/rows" >"$out/${short}_$name.csv" || exit 1
  wc -l "$out/${short}_$name.csv"
  ;;
bandwidth)
  { provenance "$program --bandwidth --csv"; $program --bandwidth --csv; } | tee "$out/${short}_bandwidth.csv"
  ;;
placement | sets | replacement | pace | clocks)
  provenance "$program --$stage" >"$work/about"
  $program "--$stage" >"$work/rows" && cat "$work/about" "$work/rows" >"$out/${short}_$stage.csv" || exit 1
  wc -l "$out/${short}_$stage.csv"
  ;;
scan | scan-places | spills | coalescer | steps | steps-shared | ends | waves | begins | begins-replayed)
  metrics=$(python3 kernels/collect/collect_ncu.py metrics "$stage") study=--${stage%-replayed}
  [ "$stage" != begins-replayed ] || metrics=$(metrics_of l2)
  provenance "$ncu --metrics $metrics $program $study" >"$work/about"
  $ncu --kernel-name 'regex:scan_granules|read_and_spill|read_at_once|fa2_' --metrics "$metrics" "$program" "$study" >"$work/ncu.csv" || { tail -5 "$work/ncu.csv"; exit 1; }
  [ -z "${KEEP:-}" ] || cp "$work/ncu.csv" "$KEEP/$stage.ncu.csv"
  python3 kernels/collect/collect_ncu.py named "$stage" "$work/ncu.csv" >"$work/rows" && cat "$work/about" "$work/rows" >"$out/${short}_$(echo "$stage" | tr - _).csv" || exit 1
  wc -l "$out/${short}_$(echo "$stage" | tr - _).csv"
  ;;
*)
  sed -n '2,39s/^# \{0,1\}//p' "$0" >&2
  exit 2
  ;;
esac
