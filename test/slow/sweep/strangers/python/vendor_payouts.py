"""Vendor payouts: onboarding, payouts and the day-end reconciliation, with a ledger in SQLite.

python3 vendor_payouts.py books   prints the ledgers of the run's folder as CSV, a row for each payout
"""

import base64
import csv
import hmac
import json
import os
import sqlite3
import sys
import threading
import time
import urllib.request
from contextlib import closing, contextmanager
from datetime import datetime, timezone
from decimal import Decimal
from email.utils import parsedate_to_datetime
from http.client import HTTPException
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

BUG = os.environ.get("BUG", "")
TRIES = 6
QUIET = 30  # after these seconds, a payment whose response was lost is in the history, if it was made
VERIFIED, REFUSED = {"success", "verified"}, {"failed", "rejected"}
RANK = {"pending": 1, "processing": 2, "success": 3, "failed": 4, "review": 5}
BROKEN = (OSError, HTTPException, ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))
SCHEMA = """
PRAGMA journal_mode = WAL;
BEGIN;
CREATE TABLE IF NOT EXISTS vendors (code TEXT PRIMARY KEY, user_id TEXT, bank_id TEXT, account_end TEXT, state TEXT);
CREATE TABLE IF NOT EXISTS payouts (
  invoice TEXT PRIMARY KEY, vendor TEXT REFERENCES vendors, reference TEXT UNIQUE, paise INTEGER,
  state TEXT DEFAULT 'new', transaction_id TEXT, utr TEXT);
CREATE TABLE IF NOT EXISTS journal (invoice TEXT, kind TEXT, paise INTEGER, PRIMARY KEY (invoice, kind));
COMMIT;
"""


class ApiError(Exception):
    def __init__(self, call, cause):
        super().__init__(f"{call}: {cause!r}")
        self.status = getattr(cause, "code", 0)
        self.refused = 400 <= self.status < 500 and self.status not in (408, 409, 425, 429)
        self.timed_out = isinstance(getattr(cause, "reason", cause), TimeoutError)
        self.retry_after = seconds_of(cause.headers["Retry-After"]) if self.status else 0


def seconds_of(text):
    try:
        if text.isdigit():
            return int(text)
        return (parsedate_to_datetime(text) - datetime.now(timezone.utc)).total_seconds()
    except (AttributeError, TypeError, ValueError):
        return 0


def paise_of(rupees):
    return int(Decimal(rupees) * 100)


def pauses(patience, longest):
    pause = 5
    while patience > 0:
        yield pause
        patience, pause = patience - pause, min(pause * 2, longest)


class Api:
    def __init__(self, url, token, sleep=time.sleep, timeout=5):
        self.url, self.token, self.sleep, self.timeout = url, token, sleep, timeout

    def call(self, method, path, body=None, pick=lambda answer: answer):
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, headers, method=method)
        try:
            with OPENER.open(request, timeout=self.timeout) as response:
                answer = json.load(response)
            if answer.get("status") is False:
                raise ValueError("the answer has the status false")
            return pick(answer)
        except BROKEN as error:
            raise ApiError(f"{method} {path}", error) from error

    def wait(self, attempt, error):
        pause = min(8, 0.5 * 2**attempt)
        if BUG != "ignores_retry_after":
            pause = max(pause, error.retry_after)
        self.sleep(pause)

    def retry(self, operation):
        for attempt in range(TRIES):
            try:
                return operation()
            except ApiError as error:
                if error.refused or attempt == TRIES - 1:
                    raise
                self.wait(attempt, error)

    def ensure(self, find, path, body, pick):
        """Looks before each try: an earlier one may have worked although its response was lost."""
        return self.retry(lambda: find() or self.call("POST", path, body, pick))

    def read(self, path, pick):
        return self.retry(lambda: self.call("GET", path, pick=pick))

    def pages(self, path, rows, total, size):
        def pick(answer):
            data = answer["data"]
            return list(data[rows]), -(-data[total] // data["limit"])

        page = last = 1
        while page <= last:
            found, last = self.read(f"{path}page={page}", pick)
            yield from found
            if BUG == "short_page_ends" and len(found) < size:
                return
            page += 1


class VendorPayouts:
    def __init__(self, api, ledger, payer, secret, prefix):
        self.api, self.payer, self.secret, self.prefix = api, payer, secret, prefix
        self.lock = threading.RLock()
        self.db = sqlite3.connect(ledger, check_same_thread=False, isolation_level=None)
        self.db.row_factory = sqlite3.Row
        self.db.executescript(SCHEMA)
        if BUG == "requeue_on_restart":
            self.sql("UPDATE payouts SET state = 'new' WHERE state = 'sending'")
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
        self.server.receive = self.receive
        self.receiver_url = f"http://127.0.0.1:{self.server.server_port}/webhook"
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()
        self.db.close()

    @contextmanager
    def transaction(self):
        with self.lock, self.db:
            self.db.execute("BEGIN IMMEDIATE")
            yield

    def sql(self, statement, *values):
        with self.lock:
            return self.db.execute(statement, values).fetchall()

    def register_webhook(self):
        body = {"url": self.receiver_url, "webhook_secret": self.secret}

        def register():
            try:
                self.api.call("POST", "/clientWebhook", body)
            except ApiError as error:
                if error.status != 409:
                    raise
                self.api.call("PUT", "/clientWebhook", body)

        self.api.retry(register)

    def onboard(self, code, person):
        """Looks before it creates, so it can be repeated."""
        user_id = self._user({"email": person["email"], "mobile": person["mobile"]})
        bank_id, state = None, self._check_kyc(user_id, person)
        if state == "verified":
            bank_id, state = self._check_bank(user_id, person)
        vendor = (code, user_id, bank_id, person["account"][-4:], state)
        self.sql("INSERT OR REPLACE INTO vendors VALUES (?, ?, ?, ?, ?)", *vendor)
        return state

    def _user(self, contact):
        def find():
            users = self.api.pages("/users?", "users", "total_users", size=50)
            return min((user["user_id"] for user in users if contact.items() <= user.items()), default=None)

        return self.api.ensure(find, "/user", contact, lambda answer: answer["data"]["user_id"])

    def _check_kyc(self, user_id, person):
        about = {"dateOfBirth": person["born"], "Nationality": "Indian", "nameOnCard": person["name"]}
        pan = {"document_type": "tid", "document_name": "pan", "document_number": person["pan"]}
        aadhaar = {"document_type": "pid", "document_name": "aadhar", "document_number": person["aadhaar"]}
        documents = [pan | about, aadhaar | about]

        def find():
            rows = self.api.read(f"/kyc/{user_id}", lambda answer: answer["data"]["response"]["data"]["kycData"])
            rows.sort(key=lambda row: row["created_at"])
            newest = {(row["document_type"], row["document_number"][-4:]): row["kyc_status"] for row in rows}
            words = [newest.get((one["document_type"], one["document_number"][-4:])) for one in documents]
            return words if all(words) else None

        def pick(answer):
            words = [entry["data"]["kyc_status"] for entry in answer["data"]]
            if BUG == "first_entry_only":
                return words[:1]
            return words if len(words) == len(documents) else find()

        return self._decide(self.api.ensure(find, "/kyc", {"user_id": user_id, "kyc": documents}, pick), find)

    def _check_bank(self, user_id, person):
        body = {"user_id": user_id, "account_number": person["account"], "ifsc_code": person["ifsc"]}

        def find():
            rows = self.api.read(f"/bank/{user_id}", lambda answer: answer["data"])
            rows = [row for row in rows if row["account_number"][-4:] == person["account"][-4:]]
            return min(rows, key=lambda row: row["bank_status"] not in VERIFIED, default=None)

        account = self.api.ensure(find, "/bank", body, lambda answer: answer["data"]["data"])
        word, metadata = account["bank_status"], account.get("metadata")
        if metadata:
            check = metadata["response"]["data"]
            holder = check["result"]["accountName"] or ""
            if word in VERIFIED and not set(person["name"].upper().split()) <= set(holder.upper().split()):
                return account["bank_id"], "refused"
            if BUG == "bank_inner_status":
                word = check["status"]
        return account["bank_id"], self._decide([word], lambda: [find()["bank_status"]])

    def _decide(self, words, again):
        for pause in pauses(patience=3 * 24 * 3600, longest=3600):
            if words and REFUSED & set(words):
                return "refused"
            if words and VERIFIED >= set(words):
                return "verified"
            self.api.sleep(pause)
            words = again()
        return "pending"

    def add_payout(self, invoice, vendor, rupees):
        row = (invoice, vendor, f"{self.prefix}-{invoice}", paise_of(rupees))
        self.sql("INSERT OR IGNORE INTO payouts (invoice, vendor, reference, paise) VALUES (?, ?, ?, ?)", *row)

    def payouts(self, where, *values):
        joined = "SELECT * FROM payouts p JOIN (SELECT code, user_id, bank_id, account_end, state AS vendor_state"
        return self.sql(f"{joined} FROM vendors) ON code = vendor WHERE {where} ORDER BY invoice", *values)

    def run(self):
        for attempt in range(TRIES):
            failures = self.submit_due()
            if not failures:
                return
            self.api.wait(attempt, max(failures, key=lambda error: error.retry_after))

    def submit_due(self):
        """Tries each due payout once, and returns the failures."""
        failures = []
        if self.payouts("state = 'sending'"):
            self.api.sleep(QUIET)
            self.reconcile()
        for payout in self.payouts("state IN ('new', 'sending') AND vendor_state = 'verified'"):
            try:
                self._send(payout)
            except ApiError as error:
                failures.append(error)
        return failures

    def _send(self, payout):
        invoice, due = payout["invoice"], "invoice = ? AND state IN ('new', 'sending')"
        if not self.sql(f"UPDATE payouts SET state = 'sending' WHERE {due} RETURNING 1", invoice):
            return
        people = {"from_user_id": self.payer, "to_user_id": payout["user_id"], "benif_bank_id": payout["bank_id"]}
        body = people | {"amount": payout["paise"] / 100, "reference_id": payout["reference"]}

        def post():
            self.api.call("POST", "/transaction", body, lambda answer: self._record(invoice, answer["data"][0]))

        try:
            if BUG == "blind_retry":
                self.api.retry(post)
            else:
                post()
        except ApiError as error:
            if BUG == "timeout_reissues" and error.timed_out:
                self.sql("UPDATE payouts SET reference = reference || '-R', state = 'new' WHERE invoice = ?", invoice)
            if not error.refused or error.status in (401, 403):
                raise
            self.sql(f"UPDATE payouts SET state = 'rejected' WHERE {due}", invoice)

    def _record(self, invoice, row, word=None):
        """Takes over the state of a payment, unless it is not the payment that the ledger knows."""
        with self.transaction():
            (payout,) = self.payouts("invoice = ?", invoice)
            known = (self.payer, payout["user_id"], payout["bank_id"], payout["paise"])
            found = (row["from_user_id"], row["to_user_id"], row["benif_bank_id"], paise_of(row["amount"]))
            if known != found or payout["transaction_id"] not in (None, row["transaction_id"]):
                return self._advance(invoice, "review")
            self.sql("UPDATE payouts SET transaction_id = ? WHERE invoice = ?", row["transaction_id"], invoice)
            self._advance(invoice, word or row["transaction_status"], from_event=word is not None)

    def _advance(self, invoice, word, from_event=False):
        """Moves forward, and books the money. An unknown word means that the payment is not final. Only a read says that
        a failed payment has succeeded after all: an event may be an old one."""
        word = word.lower() if word.lower() in RANK else "pending"
        (payout,) = self.payouts("invoice = ?", invoice)
        back = RANK[word] <= RANK.get(payout["state"], 0)
        if (payout["state"], word) == ("failed", "success") and not from_event and BUG != "unsigned_ok":
            back = False
        if BUG == "last_event_wins" and from_event:
            back = False
        if BUG == "success_is_final" and payout["state"] == "success":
            back = True
        if back:
            return
        self.sql("UPDATE payouts SET state = ? WHERE invoice = ?", word, invoice)
        if word == "success":
            self.sql("DELETE FROM journal WHERE invoice = ? AND kind = 'returned'", invoice)
            self.sql("INSERT OR IGNORE INTO journal VALUES (?, 'paid', ?)", invoice, payout["paise"])
        if word == "failed" and payout["state"] == "success":
            self.sql("INSERT OR IGNORE INTO journal VALUES (?, 'returned', ?)", invoice, -payout["paise"])

    def settle(self, patience=2 * 3600):
        """Polls until no payment is open; events only make it end sooner."""
        for pause in pauses(patience, longest=300):
            if not self.payouts("state IN ('pending', 'processing')"):
                return
            self.api.sleep(pause)
            if BUG != "webhooks_only":
                self.reconcile()

    def balance(self, vendor):
        rows = self.sql("SELECT j.paise FROM journal j JOIN payouts USING (invoice) WHERE vendor = ?", vendor)
        return sum(row["paise"] for row in rows)

    def reconcile(self):
        """Brings the ledger in line with the whole history, and returns what a person must look at."""
        history, problems = {}, []
        path = "/transaction/history?type=debit&limit=100&"
        for row in self.api.pages(path, "transactions", "total_transactions", size=100):
            history.setdefault(row["client_transaction_id"], {})[row["id"]] = row
        ours = [(one["invoice"], list(history.pop(one["reference"], {}).values())) for one in self.payouts("true")]
        strange = [(row["account_number"][-4:], row["amount"]) for rows in history.values() for row in rows.values()]
        for invoice, rows in ours:
            with self.transaction():
                problems += self._compare(invoice, rows, strange)
        return problems + [f"{key}: not in the ledger" for key in history if str(key).startswith(f"{self.prefix}-")]

    def _compare(self, invoice, rows, strange):
        (payout,) = self.payouts("invoice = ?", invoice)
        paise, before = payout["paise"], payout["state"]
        if BUG == "float_text_amount" and before == "sending":
            rows = [row for row in rows if row["amount"] == str(paise / 100)]
        if len(rows) > 1 or any(paise_of(row["amount"]) != paise for row in rows):
            self._advance(invoice, "review")
        if not rows and before == "sending" and (payout["account_end"], f"{paise // 100}.{paise % 100:02}") in strange:
            self._advance(invoice, "review")
        for row in rows:
            self.sql("UPDATE payouts SET utr = coalesce(?, utr) WHERE invoice = ?", row["utr"], invoice)
            self._advance(invoice, row["status"])
        state = self.payouts("invoice = ?", invoice)[0]["state"]
        there = [row["status"].lower() for row in rows]
        if state in ("success", "failed") and there == [state] or state in ("new", "rejected") and not rows:
            return []
        return [f"{invoice}: {state} here, {there} there"]

    def receive(self, headers, body):
        fields = ("webhook-id", "webhook-timestamp", "webhook-signature")
        event_id, stamp, signatures = (headers.get(field, "") for field in fields)
        signed = f"{event_id}.{stamp}.".encode() + body
        right = b"v1," + base64.b64encode(hmac.digest(self.secret.encode(), signed, "sha256"))
        genuine = any(hmac.compare_digest(right, given.encode()) for given in signatures.split())
        if BUG == "unsigned_ok" and not signatures:
            genuine = True
        if not genuine or not stamp.isdigit() or abs(time.time() - int(stamp)) > 300:
            return 401
        event = json.loads(body)
        topic, _, word = event["type"].partition(".")
        if topic == "transaction":
            for payout in self.payouts("transaction_id = ?", event["data"]["transaction_id"]):
                self._record(payout["invoice"], event["data"], word)
        return 204


class Receiver(BaseHTTPRequestHandler):
    timeout = 10

    def do_POST(self):
        try:
            length = min(int(self.headers["content-length"]), 1 << 20)
            status = self.server.receive(self.headers, self.rfile.read(length))
        except BROKEN as error:
            self.log_error("%r", error)
            status = 500
        self.send_response(status)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_request(self, *_):
        pass


def books(folder):
    """The journal says what was paid and what came back; a payout in review or without an answer is open."""
    out = csv.writer(sys.stdout)
    out.writerow(["reference", "transaction_id", "amount", "status", "booked"])
    words = "CASE state WHEN 'success' THEN 'success' WHEN 'failed' THEN 'failed' WHEN 'rejected' THEN 'failed' ELSE 'pending' END"
    booked = "(SELECT coalesce(sum(j.paise), 0) FROM journal j WHERE j.invoice = p.invoice)"
    for ledger in sorted(Path(folder).glob("*.sqlite")):
        with closing(sqlite3.connect(ledger)) as db:
            for *keys, paise, word, total in db.execute(f"SELECT reference, transaction_id, paise, {words}, {booked} FROM payouts p"):
                out.writerow([*keys, Decimal(paise) / 100, word, Decimal(total) / 100])


if __name__ == "__main__" and sys.argv[1:] == ["books"]:
    books(os.environ["PAYOUT_SANDBOX_RUN_DIR"])
