#!/usr/bin/env bash
# Starts a sandbox, waits until it is ready, makes a payment with curl, and stops it, whatever happens.
# It runs as is: in a clone after npm ci, and in an installed package. Copied into a project of
# yours it runs the package that is installed there. SANDBOX names another command.
# `payout-sandbox exec -- CMD` does the same around a command of yours.
set -euo pipefail
bin=$(dirname "$0")/../../dist/bin.cjs
if [ -n "${SANDBOX:-}" ]; then
  read -ra sandbox <<< "$SANDBOX"
elif [ -f "$bin" ]; then
  sandbox=(node "$bin")
else
  # Where it is not installed, npx must not look for it in a registry.
  sandbox=(npx --offline payout-sandbox)
fi
# A process group of its own: npx starts the sandbox as a child, and all of it is to be stopped.
set -m

dir=$(mktemp -d)
"${sandbox[@]}" start --memory --clock frozen --port 0 --json > "$dir/ready.json" &
pid=$!
trap 'kill -- "-$pid" 2> "$dir/kill" || true; wait "$pid" || true; rm -r "$dir"' EXIT

# One line of JSON comes when it is ready; a start that failed has said why.
until [ -s "$dir/ready.json" ]; do
  kill -0 "$pid" || exit 1
  sleep 0.05
done
field() { node -p "JSON.parse(fs.readFileSync('$dir/ready.json'))['$1']"; }
url=$(field url)
admin=$(field admin_url)
echo "ready at $url"

json=(--silent --show-error --fail --header 'Content-Type: application/json')
payment='{
  "from_user_id": "00000000-0000-4000-8000-000000000001",
  "to_user_id": "00000000-0000-4000-8000-000000000003",
  "benif_bank_id": "b0000000-0000-4000-8000-000000000003",
  "amount": "100.00"
}'
id=$(curl "${json[@]}" "$url/transaction" --data "$payment" | node -p 'JSON.parse(fs.readFileSync(0)).data[0].transaction_id')
curl "${json[@]}" "$admin/clock/advance" --data '{"by":"1m"}' > "$dir/advanced.json"
status=$(curl "${json[@]}" "$url/transaction/$id" | node -p 'JSON.parse(fs.readFileSync(0)).data[0].transaction_status')
echo "the payment is a $status"
[ "$status" = success ]
