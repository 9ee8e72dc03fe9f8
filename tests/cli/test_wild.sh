#!/bin/sh
# Files and questions after public reports (model configs, ncu exports, address traces), made short: what Tilewalk answers
# to each. Values are worked by hand. WILD_TABLE=1 prints a row for each: what is asked, exit status, what is looked for.
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

# config BYTES TOKENS JSON [PATTERN]: the cache of a model, and a note.
config() {
  echo "$3" >model.json
  answers 0 "\"bytes\": $1, " kvcache --model model.json -N "$2" --json
  [ $# = 3 ] || grep -q -- "$4" out || { echo "no note '$4' of $3"; failed=1; }
}
config 8388608 2048 '{"num_hidden_layers":8,"num_attention_heads":8,"num_key_value_heads":8,"head_dim":64,"hybrid_override_pattern":"M*M-M*M-","torch_dtype":"bfloat16","time_step_limit":[0.0,Infinity]}'
config 8388608 2048 '{"num_hidden_layers":2,"num_attention_heads":8,"hidden_size":512,"torch_dtype":"bfloat16","x":NaN}'
config 255852544 4096 '{"num_hidden_layers":61,"num_attention_heads":64,"num_attention_groups":1,"head_dim":256,"hidden_size":7168,"torch_dtype":"bfloat16"}'
config 16777216 8192 '{"model_type":"recurrent_gemma","block_types":["recurrent","recurrent","attention"],"num_hidden_layers":26,"num_attention_heads":10,"num_key_value_heads":1,"head_dim":256,"hidden_size":2560,"attention_window_size":2048,"torch_dtype":"bfloat16"}'
config 402653184 4096 '{"model_type":"zamba2","num_hidden_layers":38,"hidden_size":2048,"num_attention_heads":32,"num_key_value_heads":32,"attention_head_dim":128,"hybrid_layer_ids":[5,11,17,23,29,35],"torch_dtype":"bfloat16"}'
config 100663296 8192 '{"model_type":"lfm2","hidden_size":2048,"num_hidden_layers":16,"num_attention_heads":32,"num_key_value_heads":8,"full_attn_idxs":[2,5,8,10,12,14],"conv_L_cache":3,"torch_dtype":"bfloat16"}'
config 264241152 4096 '{"model_type":"longcat_flash","num_layers":28,"num_attention_heads":64,"kv_lora_rank":512,"qk_rope_head_dim":64,"qk_nope_head_dim":128,"v_head_dim":128,"hidden_size":6144,"torch_dtype":"bfloat16"}'
config 0 8192 '{"model_type":"mamba2","num_hidden_layers":48,"hidden_size":2048,"state_size":128,"num_heads":32,"head_dim":64}' 'no attention: no cache'
config 73400320 448 '{"model_type":"whisper","d_model":1280,"encoder_layers":32,"decoder_layers":32,"decoder_attention_heads":20,"num_hidden_layers":32,"max_source_positions":1500,"torch_dtype":"float16","is_encoder_decoder":true}' '"fixed_bytes": 245760000'
config 0 512 '{"model_type":"bert","hidden_size":768,"num_hidden_layers":12,"num_attention_heads":12}' 'an encoder keeps no cache'

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

# trace LINES PATTERN STATUS
trace() {
  printf '%b' "$1" >trace
  answers "$3" "$2" replay trace --cache 1K,1,16,16
}
trace '0,r,4096,64,0,1000\n1,w,8192,64,0,2000\n' 'which of these 6 columns is the address is not guessed' 2
trace '\0037\0213\0010\n' 'packed with gzip; unpack it: gunzip -c FILE | tilewalk trace -' 2

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
exit $failed
