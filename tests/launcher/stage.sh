#!/usr/bin/env bash
# The tests of the cluster launcher. They need sshd, rsync and iproute2, the whole form Slurm and curl, too. Without them
# the stage is skipped; with CI=true what is missing is installed, or the stage fails. CI=true leaves out the tests marked
# `full`: 200 s on two idle cores. The time limits below are for what hangs: a slow machine must not come to them.
set -euo pipefail
cd "$(dirname "$0")/../.."
began=$SECONDS

find_missing() {
  packages=()
  [ -x /usr/sbin/sshd ] || packages+=(openssh-server)
  command -v ssh >/dev/null || packages+=(openssh-client)
  command -v rsync >/dev/null || packages+=(rsync)
  command -v ip >/dev/null || packages+=(iproute2)
  command -v ps >/dev/null || packages+=(procps)
  [ "${CI:-}" = true ] && return
  command -v curl >/dev/null || packages+=(curl)
  command -v slurmctld >/dev/null || packages+=(slurm-wlm)
  command -v munged >/dev/null || packages+=(munge)
}

try() {  # a command that needs a mirror, up to five times
  local n
  for n in 1 2 3 4 5; do
    "$@" && return
    sleep "$((n * ${PAUSE_S:-5}))"
  done
  return 1
}

install() {  # each package by a command of its own: a mirror that lacks one does not keep the others
  export DEBIAN_FRONTEND=noninteractive RUNLEVEL=1  # nothing that is installed is started
  local options=(-qq -y --no-install-recommends -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3) package
  try apt-get update -qq || true  # the lists that are there may do
  for package in "$@"; do
    try apt-get install "${options[@]}" "$package" >/dev/null || true
  done
}

find_missing
if [ ${#packages[@]} -gt 0 ] && [ "${CI:-}" = true ] && [ "$UID" = 0 ] && command -v apt-get >/dev/null; then
  echo "installing ${packages[*]}"
  install "${packages[@]}"
  find_missing
fi
if [ ${#packages[@]} -gt 0 ]; then
  if [ "${CI:-}" = true ]; then
    echo "make launcher needs ${packages[*]}: install it, for example with apt-get install ${packages[*]}" >&2
    exit 1
  fi
  echo "make launcher is skipped: it needs ${packages[*]} (on Debian: apt-get install ${packages[*]})"
  exit 0
fi

${MAKE:-make} --no-print-directory -s .venv/launcher.stamp
installed=$SECONDS
limit=3600
[ "${CI:-}" = true ] && limit=1800
timeout --foreground -s INT --kill-after=20 "$limit" \
  .venv/launcher/bin/python -m pytest -n 3 --dist loadfile --no-loadscope-reorder --timeout=1200 tests/launcher "$@"
echo "the launcher's tests took $((SECONDS - installed)) s, after $((installed - began)) s of installation"
