#!/usr/bin/env bash
# The GitHub Action, do: start. Starts a sandbox that outlives this step, and exports where it is.
set -euo pipefail
# The files below have the admin token.
umask 077
fail() {
  echo "::error title=payout-sandbox::$1"
  exit 1
}
[ "$DO" = start ] || fail "do takes start or finish, not $DO"

# The words of all lines; read returns 1 at the end of the text.
read -r -d '' -a sandbox <<< "$SANDBOX_COMMAND" || true
read -r -d '' -a options <<< "$SANDBOX_OPTIONS" || true
build=$(dirname "$0")/../../dist/bin.cjs
if [ ${#sandbox[@]} -gt 0 ]; then
  :
elif [ -n "${PAYOUT_SANDBOX_BIN:-}" ]; then
  sandbox=("$PAYOUT_SANDBOX_BIN")
elif [ -e node_modules/.bin/payout-sandbox ]; then
  sandbox=(node_modules/.bin/payout-sandbox)
elif command -v payout-sandbox > /dev/null; then
  sandbox=(payout-sandbox)
elif [ -e "$build" ]; then
  sandbox=(node "$build")
else
  fail 'no payout-sandbox found: install the package, put the single executable on the PATH, or give its path as command'
fi
# finish can run in another folder.
for i in "${!sandbox[@]}"; do
  word=${sandbox[i]}
  if [[ $word == */* && $word != /* && -e $word ]]; then sandbox[i]=$PWD/$word; fi
done

dir=$RUNNER_TEMP/payout-sandbox
[ ! -e "$dir/started" ] ||
  fail 'this job has a sandbox already; run do: finish first, or use clients of it: each /@name has its own data'
# A start that failed has left its log, and finish its report.
rm -rf "$dir"
mkdir -p "$dir/report"
touch "$dir/ready.json"
# Defaults as variables: an option takes precedence over its variable.
export PAYOUT_SANDBOX_CLOCK=${PAYOUT_SANDBOX_CLOCK:-frozen} PAYOUT_SANDBOX_PORT=${PAYOUT_SANDBOX_PORT:-0}
"${sandbox[@]}" start --memory --json ${options[@]+"${options[@]}"} \
  > "$dir/ready.json" 2> "$dir/report/log.txt" < /dev/null &
pid=$!
# A step that fails leaves no sandbox.
trap 'kill "$pid" 2> /dev/null || true' EXIT

ended() {
  cat "$dir/report/log.txt"
  fail 'the sandbox did not start; its message is above'
}
# One line of JSON comes when it listens.
ready=
for ((i = 0; i < 600; i++)); do
  ! read -r ready < "$dir/ready.json" || break
  kill -0 "$pid" 2> /dev/null || ended
  sleep 0.1
done
[ -n "$ready" ] || ended
# The text of a field, or nothing if it is null or absent. The options allow no character whose escape is a letter.
field() { sed -nE 's/.*[{,]"'"$1"'":"(([^"\\]|\\.)*)".*/\1/p' <<< "$ready" | sed -E 's/\\(.)/\1/g'; }
pid=$(sed -nE 's/.*[{,]"pid":([0-9]+).*/\1/p' <<< "$ready")
url=$(field url) admin_url=$(field admin_url) token=$(field token) admin_token=$(field admin_token)
# A runner decodes %25 in a command.
[ -z "$admin_token" ] || echo "::add-mask::${admin_token//%/%25}"
export PAYOUT_SANDBOX_URL=$url
[ -z "$admin_token" ] || export PAYOUT_SANDBOX_ADMIN_TOKEN=$admin_token
"${sandbox[@]}" health || ended

{
  echo "PAYOUT_SANDBOX_URL=$url"
  [ -z "$admin_url" ] || echo "PAYOUT_SANDBOX_ADMIN_URL=$admin_url"
  echo "PAYOUT_SANDBOX_TOKEN=$token"
  [ -z "$admin_token" ] || echo "PAYOUT_SANDBOX_ADMIN_TOKEN=$admin_token"
} >> "$GITHUB_ENV"
{
  echo "url=$url"
  echo "admin-url=$admin_url"
  echo "token=$token"
} >> "$GITHUB_OUTPUT"
# finish reads these variables.
declare -p sandbox pid url admin_token > "$dir/started"
trap - EXIT
echo "The sandbox is ready at $url"
