#!/bin/bash
# `make web-serve`: the folder; a .cu to PTX where clang is; nothing for other sites; a port that is taken.
set -u
cd "$(dirname "$0")/../.." || exit 1
tilewalk=${TILEWALK:-build/tilewalk}
if ! command -v python3 >/dev/null || ! command -v curl >/dev/null; then echo "No python3 or no curl: web-serve is not tested."; exit 0; fi
work=$(mktemp -d) || exit 1
trap 'kill "$server" 2>/dev/null; rm -rf "$work"' EXIT
failed=0
echo x >"$work/x.wasm"
export TILEWALK_NO_BROWSER=1
mkfifo "$work/said"
timeout 550 viz/web/serve.py "$work" "$tilewalk" 0 >"$work/said" &
server=$!
exec 3<"$work/said"
said=
until address=$(echo "$said" | grep -o 'http://[0-9.:]*/'); do read -r said <&3 || { echo "serve: died"; exit 1; }; done
# expect STATUS TEXT ARGUMENTS...: of curl
expect() {
  wanted=$1 text=$2
  shift 2
  got=$(curl -s -o "$work/out" -w '%{http_code}' --max-time 300 "$@")
  if [ "$got" != "$wanted" ] || ! grep -qaF -- "$text" "$work/out"; then echo "serve $*: $got, not $wanted, or no '$text':"; head -c 300 "$work/out"; failed=1; fi
}
expect 200 '' "${address}x.wasm"
expect 404 '' "${address}nothing"
expect 404 'no file' "${address}a%00b"
expect 403 'this machine alone' "${address}ptx" --data-binary @viz/web/kernels/sum.cu
expect 403 'this machine alone' "$address" -H 'Host: example.org'
expect 403 'this machine alone' "${address}ptx" -H 'Origin: http://example.org' --data-binary @viz/web/kernels/sum.cu
own=(-H "Origin: ${address%/}")
expect 413 'at most 4 MiB' "${address}ptx" "${own[@]}" -X POST
if command -v clang >/dev/null; then
  expect 200 '.entry sum(' "${address}ptx" "${own[@]}" -H 'X-Name: sum.cu' --data-binary @viz/web/kernels/sum.cu
  expect 422 "mine.cu:1: use of undeclared identifier 'y'" "${address}ptx" "${own[@]}" -H 'X-Name: ../mine.cu' --data-binary '__global__ void k(float *x) { y = 1; }'
fi
port=${address##*:}
viz/web/serve.py "$work" "$tilewalk" "${port%/}" 2>&1 | grep -q 'take another: make web-serve PORT=' || { echo "serve: a port that is taken"; failed=1; }
exit $failed
