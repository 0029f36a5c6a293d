#!/usr/bin/env bash
# The GitHub Action, do: start. Starts a sandbox that outlives this step, and exports where it is.
set -euo pipefail
fail() {
  echo "::error title=payout-sandbox::$1"
  exit 1
}
[ "$DO" = start ] || fail "do takes start or finish, not $DO"

build=$(dirname "$0")/../../dist/bin.cjs
if [ -n "$SANDBOX_COMMAND" ]; then
  read -ra sandbox <<< "$SANDBOX_COMMAND"
elif [ -n "${PAYOUT_SANDBOX_BIN:-}" ]; then
  sandbox=("$PAYOUT_SANDBOX_BIN")
elif [ -e node_modules/.bin/payout-sandbox ]; then
  sandbox=("$PWD/node_modules/.bin/payout-sandbox")
elif command -v payout-sandbox > /dev/null; then
  sandbox=(payout-sandbox)
elif [ -e "$build" ]; then
  sandbox=(node "$build")
else
  fail 'no payout-sandbox found: install the package, put the single executable on the PATH, or give its path as command'
fi

dir=$RUNNER_TEMP/payout-sandbox
[ ! -e "$dir" ] || fail 'this job has started a sandbox already; one is enough: each client /@name has its own data'
mkdir -p "$dir/report"
read -ra options <<< "$SANDBOX_OPTIONS"
"${sandbox[@]}" start --memory --port 0 --json --record "$dir/report/run.ndjson" ${options[@]+"${options[@]}"} \
  > "$dir/ready.json" 2> "$dir/report/log.txt" < /dev/null &
pid=$!

ended() {
  cat "$dir/report/log.txt"
  fail 'the sandbox did not start; its message is above'
}
# One line of JSON comes when it listens.
for ((i = 0; i < 600; i++)); do
  [ ! -s "$dir/ready.json" ] || break
  kill -0 "$pid" 2> /dev/null || ended
  sleep 0.1
done
[ -s "$dir/ready.json" ] || ended
field() { sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1/p" "$dir/ready.json"; }
url=$(field url) admin_url=$(field admin_url) token=$(field token) admin_token=$(field admin_token)
[ -z "$admin_token" ] || echo "::add-mask::$admin_token"
export PAYOUT_SANDBOX_URL=$url PAYOUT_SANDBOX_ADMIN_TOKEN=$admin_token
"${sandbox[@]}" health || ended

# finish finds the sandbox by these.
printf '%s\n' "${sandbox[@]}" > "$dir/command"
sed -n 's/.*"pid":\([0-9]*\).*/\1/p' "$dir/ready.json" > "$dir/pid"
{
  echo "PAYOUT_SANDBOX_URL=$url"
  echo "PAYOUT_SANDBOX_ADMIN_URL=$admin_url"
  echo "PAYOUT_SANDBOX_TOKEN=$token"
  [ -z "$admin_token" ] || echo "PAYOUT_SANDBOX_ADMIN_TOKEN=$admin_token"
} >> "$GITHUB_ENV"
{
  echo "url=$url"
  echo "admin-url=$admin_url"
  echo "token=$token"
} >> "$GITHUB_OUTPUT"
echo "The sandbox is ready at $url"
