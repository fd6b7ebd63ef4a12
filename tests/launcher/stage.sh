#!/usr/bin/env bash
# The tests of the cluster launcher. They need sshd, rsync and Slurm; without them the stage is skipped, and with CI=true
# what is missing is installed, or the stage fails. CI=true leaves out the tests marked `full`: 200 s on two idle cores.
set -euo pipefail
cd "$(dirname "$0")/../.."
began=$SECONDS

find_missing() {
  packages=()
  [ -x /usr/sbin/sshd ] || packages+=(openssh-server)
  command -v rsync >/dev/null || packages+=(rsync)
  command -v curl >/dev/null || packages+=(curl)
  command -v slurmctld >/dev/null || packages+=(slurm-wlm)
  command -v munged >/dev/null || packages+=(munge)
}

find_missing
if [ ${#packages[@]} -gt 0 ] && [ "${CI:-}" = true ] && [ "$UID" = 0 ] && command -v apt-get >/dev/null; then
  echo "installing ${packages[*]}"
  apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends "${packages[@]}" >/dev/null
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
limit=900
[ "${CI:-}" = true ] && limit=360
timeout --foreground -s INT --kill-after=20 "$limit" \
  .venv/launcher/bin/python -m pytest -n 2 --dist loadfile --timeout=300 tests/launcher "$@"
echo "the launcher's tests took $((SECONDS - began)) s"
