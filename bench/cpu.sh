#!/usr/bin/env bash
# Compares the CPU seconds (user and system) that builds of `ragtag docs tag` take for the same updates without a cap, in
# three modes: without before-images, with before-images from a list, and with one read for each document.
# The server answers at once, on another core where taskset is there. The builds take turns. A line for each mode and build
# gives the median, its ratio to that of the first build, and all times. Needs bash, awk and Node. Without a BUILD it
# measures dist/bin/ragtag.js. OPTIONS and NODE_FLAGS of the environment go to `docs tag` and to Node.
#
#   bench/cpu.sh [-r ROWS] [-n ROUNDS] [-m MODE] [BUILD ...]
set -euo pipefail
rows=50000 rounds=5 modes=(no-undo list each)
while getopts r:n:m: option; do
  case $option in r) rows=$OPTARG ;; n) rounds=$OPTARG ;; m) modes=("$OPTARG") ;; *) exit 2 ;; esac
done
shift $((OPTIND - 1))
here="$(cd "$(dirname "$0")" && pwd)"
[ $# -gt 0 ] || set -- "$here/../dist/bin/ragtag.js"
client=() service=()
if command -v taskset > /dev/null && [ "$(nproc)" -gt 1 ]; then client=(taskset -c 0) service=(taskset -c 1); fi

world=$(mktemp -d)
cleanup() {
  [ -z "${server:-}" ] || { kill "$server" 2> /dev/null || true; wait "$server" 2> /dev/null || true; }
  rm -rf "$world"
}
trap cleanup EXIT
: > "$world/address"
"${service[@]}" node "$here/instant-server.mjs" "$rows" > "$world/address" &
server=$!
for ((try = 0; try < 100; try++)); do [ ! -s "$world/address" ] || break; sleep 0.1; done
awk -v rows="$rows" 'BEGIN {
  print "document_id,author,year:number,topic"
  for (row = 1; row <= rows; row++) printf "%032x,Ada Lovelace,%d,engine %d\n", row, 1800 + row % 200, row
}' > "$world/tags.csv"

seconds() { # BUILD MODE RUN: user and system seconds of one run
  local arguments=(docs tag "$world/tags.csv" --rate unlimited -q --set "run=$2 $3" -d)
  case $2 in
    no-undo) arguments+=(00000000000000000000000000000007 --no-undo) ;;
    list) arguments+=(00000000000000000000000000000007) ;;
    each) arguments+=(0000000000000000000000000000000f) ;;
    *) echo "modes: no-undo, list, each" >&2; exit 2 ;;
  esac
  rm -rf "$world/state"
  TIMEFORMAT='%U %S'
  # shellcheck disable=SC2086 # both are lists of words
  { time RAGTAG_BASE_URL=$(cat "$world/address") RAGTAG_STATE_DIR="$world/state" RAGTAG_API_KEY=cpu-0000000000000000 \
    "${client[@]}" node ${NODE_FLAGS:-} "$1" "${arguments[@]}" ${OPTIONS:-} > "$world/out" 2> "$world/errors"; } \
    2> "$world/time" || { cat "$world/out" "$world/errors" >&2; exit 1; }
  awk '{ printf "%.2f\n", $1 + $2 }' "$world/time"
}

median() { sort -n "$1" | awk '{ all[NR] = $1 } END { print all[int((NR + 1) / 2)] }'; }

for mode in "${modes[@]}"; do
  for ((round = 1; round <= rounds; round++)); do
    for ((number = 1; number <= $#; number++)); do
      seconds "${!number}" "$mode" "$round $number" >> "$world/$mode.$number"
    done
  done
  for ((number = 1; number <= $#; number++)); do
    awk -v first="$(median "$world/$mode.1")" -v this="$(median "$world/$mode.$number")" -v mode="$mode" -v rows="$rows" \
      -v build="${!number}" -v all="$(sort -n "$world/$mode.$number" | tr '\n' ' ')" \
      'BEGIN { printf "%s: %.2f s for %d rows, ratio %.3f (%s) %s\n", mode, this, rows, this / first, all, build }'
  done
done
