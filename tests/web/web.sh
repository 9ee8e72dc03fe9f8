#!/bin/sh
# Tests the folder BUILD/web in a real Chromium, and in Firefox where that is: `tests/web/web.sh BUILD [NAME...]` (or
# `make test-web`). NAME: only tests whose names hold it. `--bench`: how fast they are, against their limits. Without
# Chromium or Node it says so and counts nothing.
set -eu
build=$1
shift
browser=${CHROMIUM:-$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)}
if [ -z "$browser" ] || ! command -v node >/dev/null; then
  echo "No Chromium or no Node (Debian: chromium, nodejs): the pages are not tested."
  exit 0
fi
if [ "${1:-}" = --bench ]; then exec node tests/web/bench.mjs "$build" "$browser"; fi
exec node tests/web/web.mjs "$build" "$browser" "$@"
