#!/bin/sh
# .ci/setup decides rightly what to install and how, on a machine made of stand-ins: a PATH that holds a few tools and
# a fake apt-get, sudo, id, compiler and pkg-config, which note how they were called.
set -eu
cd "$(dirname "$0")/../.."
box=$(mktemp -d)
mkdir -p "$box/tree/.ci" # a tree of its own: set-up notes in build/ what it had to leave out
cp .ci/setup "$box/tree/.ci/"
setup=$box/tree/.ci/setup
trap 'rm -rf "$box"' EXIT

tool() { printf '#!/bin/sh\n%s\n' "$2" >"$box/bin/$1" && chmod +x "$box/bin/$1"; }
# A machine with a package manager and nothing else; $1 is the user's number.
machine() {
  rm -rf "${box:?}/bin"
  mkdir "$box/bin"
  : >"$box/calls"
  for name in dirname mktemp rm tail cat grep env sh mkdir; do ln -s "$(command -v $name)" "$box/bin/$name"; done
  tool id "echo $1"
  tool apt-get "echo apt-get \"\$@\" >>'$box/calls'"
}
equip() { # ... and with all that is needed; $1: a pkg-config pattern that is missing all the same
  tool cc 'cat >/dev/null'
  tool c++ ''
  tool fc-list 'echo DejaVu Sans'
  tool pkg-config "case \"\$*\" in *${1:-nothing-at-all}*) exit 1 ;; esac"
  tool Xvfb ''
  tool xdotool ''
}
fail() { echo "FAIL: $1"; cat "$box/out" "$box/calls"; exit 1; }
# run STATUS GOAL: .ci/setup must end with STATUS.
run() {
  status=0
  env -i PATH="$box/bin" TMPDIR="$box" "$setup" "$2" >"$box/out" 2>&1 || status=$?
  [ $status = "$1" ] || fail "status $status, not $1"
}
says() { grep -qE -- "$1" "$box/out" || fail "does not say '$1'"; }
called() { grep -qE -- "$1" "$box/calls" || fail "did not call '$1'"; }

# Nothing is missing: not a word, and no package manager.
machine 0; equip; run 0 test
if [ -s "$box/out" ] || [ -s "$box/calls" ]; then fail "it did something"; fi

# A compiler of two words is a compiler.
machine 0; equip; tool wrapped 'exec "$@"'
env -i PATH="$box/bin" TMPDIR="$box" CC='wrapped cc' CXX='wrapped c++' "$setup" test >"$box/out" 2>&1
if [ -s "$box/out" ] || [ -s "$box/calls" ]; then fail "CXX='wrapped c++' is no compiler"; fi

# A bare machine: it says why and what, in two lines, refreshes the lists, installs.
machine 0; run 0 run
says '^Setting up: a C compiler, pkg-config, drawing \(cairo, pango\)'
says '^Installing with apt-get: gcc libc6-dev pkg-config libcairo2-dev'
[ "$(wc -l <"$box/out")" = 2 ] || fail "more than two lines"
called ' update$'
called ' install -y --no-install-recommends gcc libc6-dev pkg-config libcairo2-dev libpango1.0-dev .* liblua5.4-dev libmd4c-dev zlib1g-dev$'
called ' install -y --no-install-recommends libwebp-dev libgif-dev$'
if grep -q cmocka "$box/calls"; then fail "make run asked for the test library"; fi
machine 0; run 0 test
called 'libcmocka-dev'

# Only what is missing is asked for.
machine 0; equip md4c; run 0 run
called ' install -y --no-install-recommends libmd4c-dev$'

# An ordinary user: through sudo, or told what to ask for.
machine 1000; tool sudo "echo sudo >>'$box/calls'; exec \"\$@\""; equip jansson; run 0 run
says 'through sudo: libjansson-dev'
[ "$(grep -c sudo "$box/calls")" = 2 ] || fail "sudo was not used twice"
machine 1000; equip jansson; run 1 run
says 'Without root or sudo, ask for: apt-get install libjansson-dev'

# Another kind of system: the packages by their Debian names.
machine 0; rm "$box/bin/apt-get"; run 1 run
says 'There is no apt-get here; install what Debian calls: gcc libc6-dev pkg-config'

# apt-get fails: its last words, and what was wanted. The lists may fail to refresh without harm.
machine 0; equip jansson; tool apt-get "case \"\$*\" in *install*) echo E: no route; exit 100 ;; esac"; run 1 run
says '^E: no route'
says 'could not install: libjansson-dev'
machine 0; equip jansson; tool apt-get "case \"\$*\" in *update*) exit 100 ;; esac; echo \"\$@\" >>'$box/calls'"; run 0 run
called 'libjansson-dev'

# Without an optional part everything else goes on, and apt-get is not bothered again until it is asked to be.
machine 0; equip libwebp; tool apt-get "echo apt-get >>'$box/calls'; exit 100"; run 0 run
says 'going on without the optional parts'
: >"$box/calls"; run 0 run
says '^Left out: animations \(WebP, GIF\)\..*libwebp-dev'
[ ! -s "$box/calls" ] || fail "it tried again"
run 0 all
called apt-get
machine 0; equip jansson; tool apt-get "case \"\$*\" in *gif*) exit 100 ;; esac; echo \"\$@\" >>'$box/calls'"; rm "$box/bin/cc"; run 0 run
called 'libjansson-dev'
says 'going on without the optional parts'

# An archive that lacks one optional package installs none of a list: the others are had one by one.
machine 0; equip libwebp; rm -f "$box/tree/build/setup-skipped"; tool cc '! grep gif_lib'
tool apt-get "case \"\$*\" in *gif*) echo E: Unable to locate package libgif-dev; exit 100 ;; *install*) echo \"\$@\" >>'$box/calls' ;; esac"; run 0 test
called ' libwebp-dev$'
says 'could not install all of: libwebp-dev libgif-dev'
: >"$box/calls"; run 0 test
[ ! -s "$box/calls" ] || fail "it tried again"
echo "13 machines set up"
