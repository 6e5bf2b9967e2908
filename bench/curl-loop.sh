#!/usr/bin/env bash
# Compares `ragtag docs tag` with a loop around curl: the same updates of the same sandbox, one after the other.
# Prints a line for each round and the median ratio. Needs bash, curl, xargs and the built program (npm run build).
#
#   bench/curl-loop.sh [DOCUMENTS] [ROUNDS]
set -euo pipefail
documents=${1:-500} rounds=${2:-3}
program="$(cd "$(dirname "$0")/.." && pwd)/dist/bin/ragtag.js"
world=$(mktemp -d)
cleanup() {
  [ -z "${sandbox:-}" ] || { kill "$sandbox" 2> /dev/null || true; wait "$sandbox" 2> /dev/null || true; }
  rm -rf "$world"
}
trap cleanup EXIT
export RAGTAG_STATE_DIR="$world/state" RAGTAG_API_KEY=sandbox-curl-loop-0000000000000000
: > "$world/lines"
node "$program" sandbox --port 0 --documents "$documents" --flavour ragflow-0.24 --key "$RAGTAG_API_KEY" \
  > "$world/lines" 2> /dev/null &
sandbox=$!
for ((try = 0; try < 300; try++)); do [ "$(wc -l < "$world/lines")" -lt 3 ] || break; sleep 0.1; done
RAGTAG_BASE_URL=$(sed -n 1p "$world/lines")
dataset=$(sed -n 3p "$world/lines")
export RAGTAG_BASE_URL
node "$program" manifest init -d "$dataset" --out "$world/tags.csv" 2> /dev/null
tail -n +2 "$world/tags.csv" | cut -d, -f1 > "$world/ids"

seconds() { # of a command
  local begin end
  begin=$(date +%s%N)
  "$@" > "$world/out" 2>&1 || { cat "$world/out" >&2; exit 1; }
  end=$(date +%s%N)
  awk -v ns=$((end - begin)) 'BEGIN { printf "%.2f", ns / 1e9 }'
}
loop() { # what such a script does: eight at a time, each answer taken for a success
  xargs -P 8 -I ID curl -sS -o /dev/null -X PUT -H "Authorization: Bearer $RAGTAG_API_KEY" \
    -H 'Content-Type: application/json' -d "{\"meta_fields\":{\"round\":\"curl $1\"}}" \
    "$RAGTAG_BASE_URL/api/v1/datasets/$dataset/documents/ID" < "$world/ids"
}
tag() { node "$program" docs tag "$world/tags.csv" --rate 1000 --set "round=ragtag $1" -q; }

written() { node "$program" docs list -d "$dataset" --where "round=$1" --format jsonl | wc -l; }

for ((round = 1; round <= rounds; round++)); do
  curl_seconds=$(seconds loop "$round")
  [ "$(written "curl $round")" -eq "$documents" ] || { echo "the loop did not write all documents" >&2; exit 1; }
  tag_seconds=$(seconds tag "$round")
  [ "$(written "ragtag $round")" -eq "$documents" ] || { echo "ragtag did not write all documents" >&2; exit 1; }
  ratio=$(awk -v a="$curl_seconds" -v b="$tag_seconds" 'BEGIN { printf "%.2f", a / b }')
  echo "$documents documents: curl $curl_seconds s, ragtag $tag_seconds s, ratio $ratio"
  echo "$ratio" >> "$world/ratios"
done
echo "median ratio: $(sort -n "$world/ratios" | sed -n "$(((rounds + 1) / 2))p") (more than 1: ragtag is faster)"
