#!/bin/bash
# Shows that the README's two commands work on a fresh machine: `tests/support/fresh_machine.sh [root|user]...`.
#
# Builds a bare tree (debootstrap --variant=minbase, nothing added), unpacks HEAD into it, and runs the commands as
# README.md gives them, as root and as an ordinary user with sudo; once with `make run` first, once with
# `make test` first, each command twice in a row. The second time has no network and an apt-get that only
# tells tales. There is no display, no GPU and no nvcc in there. Ends with `N passed, N failed`.
#
# COMMANDS=run tries `make run` alone, TIMES=once leaves out what comes again. Needs root, debootstrap and namespaces;
# says so otherwise, with status 77. Takes SUITE=bookworm, COMPONENTS=main (Ubuntu: main,universe) and MIRROR=URL
# (default: where this machine's apt gets SUITE from). The bare tree is kept in /var/tmp for 30 days. Mounts live in a
# namespace of their own, so none can be left behind.
set -u
cd "$(dirname "$0")/../.." || exit 1
SUITE=${SUITE:-bookworm}
COMPONENTS=${COMPONENTS:-main}
COMMANDS=${COMMANDS:-run test}
TIMES=${TIMES:-twice}
cache=/var/tmp/tilewalk-fresh-$SUITE.tar
passed=0 failed=0

cannot() { echo "fresh_machine: not run: $1" >&2; exit 77; }
[ "$(id -u)" = 0 ] || cannot "it needs root, for chroot"
command -v debootstrap >/dev/null || cannot "it needs the package debootstrap"
unshare --mount --pid --net --fork true 2>/dev/null || cannot "namespaces are not allowed here"

work=$(mktemp -d /var/tmp/tilewalk-fresh.XXXXXX) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
tree=$work/tree

# verdict STATUS WHAT: one PASS or FAIL line.
verdict() {
  if [ "$1" = 0 ]; then
    passed=$((passed + 1))
    echo "PASS  $2"
  else
    failed=$((failed + 1))
    echo "FAIL  $2"
  fi
}

# readme COMMAND: the one-line form of the README that ends in COMMAND and installs make first.
readme() {
  awk -v want="$1" '/^```/ { fenced = !fenced; next } fenced && /apt-get/ && $0 ~ want "$" { print; exit }' README.md
}

bare_tarball() {
  if [ -O "$cache" ] && [ -z "$(find "$cache" -mtime +30)" ]; then return; fi
  # shellcheck disable=SC2016  # $(...) is apt's own format
  mirror=${MIRROR:-$(apt-get indextargets --format '$(CODENAME) $(REPO_URI)' 'Identifier: Packages' |
    awk -v suite="$SUITE" '$1 == suite { print $2; exit }')}
  [ -n "$mirror" ] || cannot "this machine's apt does not offer $SUITE; give MIRROR=URL"
  echo "Building a bare $SUITE tree (kept in $cache)"
  debootstrap --variant=minbase --components="$COMPONENTS" "$SUITE" "$work/bare" "$mirror" >"$work/log" 2>&1 ||
    { tail -n 5 "$work/log"; cannot "debootstrap failed"; }
  rm -rf "$work"/bare/var/cache/apt/archives/*.deb
  (umask 077 && tar -C "$work/bare" -cf "$cache.$$" . && mv "$cache.$$" "$cache")
  rm -rf "$work/bare"
}

# inside [--offline] USER COMMAND: runs COMMAND by sh as USER in the checkout, in namespaces of its own.
inside() {
  local net=''
  if [ "$1" = --offline ]; then net=--net; shift; fi
  # shellcheck disable=SC2016  # expanded inside
  unshare --mount --pid $net --fork --kill-child sh -c '
    set -e
    tree=$1 user=$2 command=$3
    mount -t proc proc "$tree/proc"
    mount -t tmpfs dev "$tree/dev"
    for node in null zero full random urandom tty; do : >"$tree/dev/$node"; mount --bind "/dev/$node" "$tree/dev/$node"; done
    mkdir "$tree/dev/pts" "$tree/dev/shm"
    mount -t devpts -o newinstance,ptmxmode=0666 devpts "$tree/dev/pts"
    mount -t tmpfs -o mode=1777 shm "$tree/dev/shm"
    ln -s pts/ptmx "$tree/dev/ptmx"; ln -s /proc/self/fd "$tree/dev/fd"
    ln -s fd/0 "$tree/dev/stdin"; ln -s fd/1 "$tree/dev/stdout"; ln -s fd/2 "$tree/dev/stderr"
    exec chroot "$tree" /usr/bin/env -i TERM=dumb PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
      su -s /bin/sh "$user" -c "cd /srv/tilewalk || exit 1; $command"
  ' sh "$tree" "$1" "$2" </dev/null
}

# fresh USER: a new bare tree with the checkout in it, owned by USER; a user other than root gets sudo.
fresh() {
  rm -rf "$tree"
  mkdir -p "$tree"
  tar -C "$tree" -xf "$cache"
  cp /etc/resolv.conf /etc/hosts "$tree/etc/"
  apt-config dump | grep -i '^Acquire::.*Proxy' >"$tree/etc/apt/apt.conf.d/90proxy"
  mkdir -p "$tree/srv/tilewalk"
  git archive HEAD | tar -C "$tree/srv/tilewalk" -xf -
  if [ "$1" != root ]; then
    # shellcheck disable=SC2016
    inside root "{ apt-get -qq update && apt-get -qq install -y --no-install-recommends sudo; } >/dev/null 2>&1 &&
      useradd -m '$1' && echo '$1 ALL=(ALL) NOPASSWD: ALL' >/etc/sudoers.d/$1 && chown -R '$1' ." ||
      { echo "FAIL  could not add a user with sudo"; exit 1; }
  fi
}

# The apt-get that tells tales: stands before the real one in everybody's PATH, sudo's too.
tripwire() {
  local name
  : >"$tree/tripwire"
  chmod 666 "$tree/tripwire"
  for name in apt-get apt dpkg; do
    printf '#!/bin/sh\necho "%s $*" >>/tripwire\nexit 1\n' $name >"$tree/usr/local/sbin/$name"
    chmod 755 "$tree/usr/local/sbin/$name"
    ln -f "$tree/usr/local/sbin/$name" "$tree/usr/local/bin/$name"
  done
}
no_tripwire() { rm -f "$tree"/usr/local/{bin,sbin}/{apt-get,apt,dpkg}; }

# try WHAT USER COMMAND [--offline]: runs it, keeps the output, gives the verdict.
try() {
  local began=$SECONDS status
  # shellcheck disable=SC2086
  inside ${4:-} "$2" "$3" >"$work/log" 2>&1
  status=$?
  verdict $status "$1 ($((SECONDS - began)) s)"
  if [ $status != 0 ]; then
    echo "      status $status; what failed, and the end of its output:"
    { grep -E 'FAILED|ERROR|error:' "$work/log" | head -n 20; tail -n 6 "$work/log"; } | sed 's/^/      /'
  fi
  case $3 in
  *'make test')
    grep -qE '^[1-9][0-9]* passed, 0 failed$' "$work/log"
    verdict $? "$1: $(grep -E '^[0-9]+ (passed, [0-9]+ failed|skipped)$' "$work/log" | paste -sd ' ')"
    ;;
  esac
}

# both COMMAND USER: the README's form, then again with neither network nor apt-get, then plainly.
both() {
  local line
  line=$(readme "$1")
  [ -n "$line" ] || { verdict 1 "README.md has no one-line form that ends in '$1'"; return; }
  no_tripwire
  try "$2: $1, first time" "$2" "$line"
  [ "$TIMES" = twice ] || return
  tripwire
  try "$2: $1, second time, without network" "$2" "$line" --offline
  try "$2: plain '$1', without network" "$2" "$1" --offline
  [ ! -s "$tree/tripwire" ]
  verdict $? "$2: $1 again called no package manager"
  sed 's/^/      /' "$tree/tripwire"
}

[ $# -gt 0 ] || set -- root user
bare_tarball
for user in "$@"; do
  name=root
  [ "$user" = root ] || name=walker
  for first in $COMMANDS; do
    echo "--- $SUITE, $user, make $first first"
    fresh $name
    # shellcheck disable=SC2016  # expanded inside
    inside $name '! command -v make && ! command -v cc && ! command -v nvcc && ! ls /dev/nvidia* && [ -z "${DISPLAY:-}" ]' >/dev/null 2>&1
    verdict $? "$name: the machine is bare: no make, compiler, nvcc, GPU or display"
    both "make $first" $name
    for second in $COMMANDS; do
      [ "$second" = "$first" ] || both "make $second" $name
    done
  done
done
echo "$passed passed, $failed failed"
[ $failed = 0 ]
