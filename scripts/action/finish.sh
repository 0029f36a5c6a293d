#!/usr/bin/env bash
# The GitHub Action, do: finish. Writes the request log and the job summary, and stops the sandbox.
set -euo pipefail
dir=$RUNNER_TEMP/payout-sandbox
if [ ! -e "$dir/pid" ]; then
  echo '::warning title=payout-sandbox::there is no sandbox to finish: the step with do: start did not succeed'
  exit 0
fi
sandbox=()
# The bash of macOS has no mapfile.
while read -r word; do sandbox+=("$word"); done < "$dir/command"
pid=$(cat "$dir/pid")

{
  echo '## payout-sandbox'
  if kill -0 "$pid" 2> /dev/null; then
    "${sandbox[@]}" requests --limit 500 --json > "$dir/report/requests.json"
    printf '\nThe scenario of the default client:\n\n```text\n'
    "${sandbox[@]}" scenario show
    printf '```\n\nIts last calls, newest first:\n\n```text\n'
    "${sandbox[@]}" requests --limit 20
    printf '```\n\nIf the job fails, its artifact has the request log and a recording of all clients: `payout-sandbox replay run.ndjson`.\n'
  else
    printf '\nThe sandbox has ended before the tests did. Its log:\n\n```text\n'
    tail -20 "$dir/report/log.txt"
    printf '```\n'
  fi
} >> "$GITHUB_STEP_SUMMARY"

# The recording is complete when the sandbox has ended.
kill "$pid" 2> /dev/null || true
for ((i = 0; i < 100; i++)); do
  kill -0 "$pid" 2> /dev/null || exit 0
  sleep 0.1
done
echo '::warning title=payout-sandbox::the sandbox did not stop within 10 s'
