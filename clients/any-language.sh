# Run it: payout-sandbox exec --clock frozen -- sh any-language.sh
set -eu
root=${PAYOUT_SANDBOX_URL%/v1}/@worker-1 # one world for each test worker
send() {
  curl -sS --max-time 20 --fail-with-body -w '\n' -X "$1" "$root$2" -H 'Content-Type: application/json' \
    -H 'Authorization: Bearer sbx_worker-1' -H "X-Admin-Token: ${PAYOUT_SANDBOX_ADMIN_TOKEN-}" -d "$3"
}

send POST /__admin/reset '{}'
send PUT /__admin/scenario '{"name":"lost-responses"}'
payment='{"from_user_id":"00000000-0000-4000-8000-000000000001","to_user_id":"00000000-0000-4000-8000-000000000003",
  "benif_bank_id":"b0000000-0000-4000-8000-000000000003","amount":250,"reference_id":"INV-7"}'
send POST /v1/transaction "$payment" || echo "no response: curl ended with exit code $?"
send POST /__admin/wait '{"for":"transaction","match":{"reference_id":"INV-7","transaction_status":"success"},"advance":"2d"}'
send POST /__admin/requests/verify '{"match":{"operation":"createTransaction"},"exactly":1}'
send POST /__admin/reconcile '{"rows":[{"reference":"INV-7","amount":"250.00","status":"SUCCESS"}]}'
