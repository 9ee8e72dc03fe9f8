#!/bin/sh
# Tests the folder BUILD/web in a real Chromium, and in Firefox where that is: `tests/web/web.sh BUILD [NAME...]` (or
# `make test-web`). NAME: only tests whose names hold it. `--bench`: how fast they are, against their limits. Without
# Chromium, Node or npm it says so and counts nothing; what drives them comes from npm, once, into BUILD, or it fails.
set -eu
build=$1
shift
browser=${CHROMIUM:-$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)}
if [ -z "$browser" ] || ! command -v node >/dev/null || ! command -v npm >/dev/null; then
  echo "No Chromium, no Node or no npm (Debian: chromium, nodejs, npm): the pages are not tested."
  exit 0
fi
# Node knows its own certificates; the system's, where a network has one of its own, are asked besides.
export NODE_EXTRA_CA_CERTS="${NODE_EXTRA_CA_CERTS:-/etc/ssl/certs/ca-certificates.crt}"
[ -d "$build/node_modules/puppeteer-core" ] || npm install --silent --no-audit --no-fund --prefix "$build" puppeteer-core@24.43.1 || {
  echo "FAIL: npm cannot get puppeteer-core, which drives the browser" >&2
  exit 1
}
if [ "${1:-}" = --bench ]; then exec node tests/web/bench.mjs "$build" "$browser"; fi
exec node tests/web/web.mjs "$build" "$browser" "$@"
