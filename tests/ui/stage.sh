#!/usr/bin/env bash
# The checks of the dashboard, in order of their cost: types, tests of the JavaScript, tests in Chromium.
# With CI=true one test of each kind is run; make proof runs all. Options are pytest's: on a machine that is slow,
# tests/ui/stage.sh --cpu-rate 6 --late-frames 300 --latency 100
# Without Chromium, Node.js or npm the stage is skipped; with CI=true a missing one is installed, or fails.
set -euo pipefail
cd "$(dirname "$0")/../.."
began=$SECONDS

find_missing() {
  packages=()
  command -v chromium chromium-browser google-chrome >/dev/null || packages+=(chromium)
  command -v node >/dev/null || packages+=(nodejs)
  command -v npm >/dev/null || packages+=(npm)
}

find_missing
if [ ${#packages[@]} -gt 0 ] && [ "${CI:-}" = true ] && [ "$UID" = 0 ] && command -v apt-get >/dev/null; then
  echo "installing ${packages[*]}"
  apt-get update -qq && apt-get install -qq -y --no-install-recommends "${packages[@]}" >/dev/null
  find_missing
fi
if [ ${#packages[@]} -gt 0 ]; then
  if [ "${CI:-}" = true ]; then
    echo "make ui needs ${packages[*]}: install it, for example with apt-get install ${packages[*]}" >&2
    exit 1
  fi
  echo "make ui is skipped: it needs ${packages[*]} (on Debian: apt-get install ${packages[*]})"
  exit 0
fi

${MAKE:-make} --no-print-directory -s .venv/ui.stamp tests/ui/node_modules/.package-lock.json
tests/ui/node_modules/.bin/tsc -p tests/ui/tsconfig.json
node --import ./tests/ui/js/register.mjs --test --test-reporter=dot tests/ui/js/
.venv/ui/bin/python -m pytest -n 2 --timeout=900 tests/ui "$@"
echo "the dashboard's checks took $((SECONDS - began)) s"
