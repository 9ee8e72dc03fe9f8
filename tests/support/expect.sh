# shellcheck shell=sh
# For scripts that ask the program and look at what it says, sourced at their beginning: a folder $work that goes away, the
# program $tilewalk, and expect. Each defines run, which asks, and ends with `exit $failed`.
cd "$(dirname "$0")/../.." || exit 1
# shellcheck disable=SC2034  # run is the script's
tilewalk=${TILEWALK:-build/tilewalk}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0
how=-q   # grep's: -qF takes texts as they are
wraps='' # not empty: line breaks are blanks

# expect STATUS TEXT ARGUMENT...: exit status, and TEXT in what is printed. A refusal is one line on stderr and nothing on stdout.
expect() {
  wanted=$1 text=$2
  shift 2
  run "$@" >"$work/out" 2>"$work/err" </dev/null
  status=$?
  cat "$work/out" "$work/err" >"$work/all"
  [ -z "$wraps" ] || { tr -s ' \n' ' ' <"$work/all" >"$work/flat" && mv "$work/flat" "$work/all"; }
  if [ $status != "$wanted" ] || ! grep $how -- "$text" "$work/all"; then
    echo "$*: status $status, not $wanted, or no '$text':"
    head -c 2000 "$work/out"
    head -c 2000 "$work/err"
    failed=1
  fi
  if [ "$wanted" = 2 ] && { [ -s "$work/out" ] || [ "$(wc -l <"$work/err")" != 1 ]; }; then
    echo "$*: a refusal is one line on stderr and nothing on stdout"
    failed=1
  fi
}
