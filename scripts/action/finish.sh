#!/usr/bin/env bash
# The GitHub Action, do: finish. Writes the request log and the job summary, and stops the sandbox. Never fails the job: it
# warns of what it could not do.
set -uo pipefail
umask 077
dir=$RUNNER_TEMP/payout-sandbox
warn() { echo "::warning title=payout-sandbox::$1"; }
if [ ! -e "$dir/started" ]; then
  warn 'there is no sandbox to finish: no step with do: start has succeeded since the last finish'
  # An earlier finish has uploaded its report.
  [ ! -e "$dir/finished" ] || rm -rf "$dir/report"
  exit 0
fi
# sandbox, pid, url and admin_token
# shellcheck source=/dev/null
. "$dir/started"
mv "$dir/started" "$dir/finished"
# Later steps do not look for it.
printf 'PAYOUT_SANDBOX_%s=\n' URL ADMIN_URL TOKEN ADMIN_TOKEN >> "$GITHUB_ENV"

stop() {
  kill "$watchdog" 2> /dev/null
  kill "$pid" 2> /dev/null || return
  for ((i = 0; i < 100; i++)); do
    kill -0 "$pid" 2> /dev/null || return
    sleep 0.1
  done
  kill -KILL "$pid"
  warn 'the sandbox did not stop within 10 s, so it was killed'
}
# The commands below wait for an answer. A sandbox that hangs is killed, so they fail.
(for ((i = 0; i < 60; i++)); do sleep 1; done && kill -KILL "$pid") < /dev/null > /dev/null 2>&1 &
watchdog=$!
trap 'stop; exit 0' EXIT

# The tests can have changed these variables: the commands get only what start has seen.
for name in ${!PAYOUT_SANDBOX_@}; do unset "$name"; done
export PAYOUT_SANDBOX_URL=$url
[ -z "$admin_token" ] || export PAYOUT_SANDBOX_ADMIN_TOKEN=$admin_token

unread=()
# Prints the output of a command of the program, or why there is none.
show() {
  "${sandbox[@]}" "$@" 2>&1 && return
  echo "This could not be read: payout-sandbox $* failed."
  unread+=("$1")
}
if kill -0 "$pid" 2> /dev/null; then
  {
    printf '## payout-sandbox\n\nThe scenario, over all clients:\n\n```text\n'
    show scenario show --all
    printf '```\n\nThe last calls of all clients, newest first:\n\n```text\n'
    show requests --limit 20
    printf '```\n\nIf the job fails, its artifact has the request log: `requests.har`, which browsers open.\n'
  } >> "$GITHUB_STEP_SUMMARY"
  "${sandbox[@]}" requests export --har "$dir/report/requests.har" > /dev/null ||
    unread+=('the request log for the artifact')
  [ ${#unread[@]} = 0 ] || warn "could not read: ${unread[*]}; the summary of the job says why"
else
  warn 'the sandbox ended before the tests did; the summary of the job has its log'
  {
    printf '## payout-sandbox\n\nThe sandbox has ended before the tests did. Its log:\n\n```text\n'
    tail -20 "$dir/report/log.txt" 2>&1
    printf '```\n'
  } >> "$GITHUB_STEP_SUMMARY"
fi
