"""A queue of payouts in SQLite: workers claim, look up, pay and book; a webhook settles, and polls catch what it misses.

python3 queue_worker.py run     works until all jobs have ended; start it twice with one JOBS_DIR, as two pods do
python3 queue_worker.py books   prints the ledger of JOBS_DIR as CSV, a row for each movement of money
"""

import base64
import csv
import fcntl
import hashlib
import hmac
import json
import os
import shutil
import sqlite3
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from contextlib import closing, contextmanager, suppress
from http.client import HTTPException
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

BUG = os.environ.get("BUG", "")
# PAUSE=lookup=0.5,poll=0.3 waits so many seconds at these points, which makes a race likely.
PAUSES = dict(one.split("=") for one in os.environ.get("PAUSE", "").split(",") if one)
URL = os.environ.get("PAYOUT_SANDBOX_URL", "")
TIMEOUT = 4
LEASE = 1 if BUG == "lease_too_short" else 30  # seconds of real time; longer than any call
QUIET = 60  # after so many seconds on the service's clock, a payment without a response is in the history, or isn't made
TRIES = 12
SECRET = "queue-worker-secret"
PAYER = "00000000-0000-4000-8000-000000000001"
JOBS = [("wages-0101", "03", 150050), ("wages-0102", "02", 24975), ("wages-0103", "04", 98000)]
BROKEN = (OSError, HTTPException, ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))
SCHEMA = """
CREATE TABLE IF NOT EXISTS jobs (
  reference TEXT PRIMARY KEY, payee TEXT, paise INTEGER, state TEXT DEFAULT 'new', attempts INTEGER DEFAULT 0,
  owner TEXT, lease_until REAL DEFAULT 0, transaction_id TEXT, utr TEXT, version INTEGER DEFAULT 0);
CREATE TABLE IF NOT EXISTS ledger (reference TEXT, direction TEXT, paise INTEGER);
CREATE TABLE IF NOT EXISTS events (id TEXT PRIMARY KEY);
"""


def pause(point):
    if point in PAUSES:
        time.sleep(float(PAUSES[point]))


class ApiError(Exception):
    def __init__(self, call, cause):
        super().__init__(f"{call}: {cause!r}")
        self.status = getattr(cause, "code", 0) or 0
        after = cause.headers.get("Retry-After", "") if self.status else ""
        self.retry_after = int(after) if after.isdigit() else 0
        self.refused = self.status in (400, 404, 422)


def call(method, path, body=None, base=URL, timeout=TIMEOUT):
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {os.environ['PAYOUT_SANDBOX_TOKEN']}"}
    headers["X-Admin-Token"] = os.environ.get("PAYOUT_SANDBOX_ADMIN_TOKEN", "")
    data = None if body is None else json.dumps(body).encode()
    try:
        with OPENER.open(urllib.request.Request(base + path, data, headers, method=method), timeout=timeout) as answer:
            return json.load(answer)
    except BROKEN as error:
        raise ApiError(f"{method} {path}", error) from error


def sleep(seconds):
    """The tests' sleep: moves the clock of the sandbox."""
    for last in (False, False, True):
        try:
            return call("POST", "/clock/advance", {"by": f"{round(seconds * 1000)}ms"}, os.environ["PAYOUT_SANDBOX_ADMIN_URL"], 60)
        except ApiError as error:
            if error.status != 409 or last:
                raise


def read(path, pick):
    for attempt in range(TRIES):
        try:
            answer = call("GET", path)
            try:
                return pick(answer["data"])
            except BROKEN as error:
                raise ApiError(f"GET {path}", error) from error
        except ApiError as error:
            if error.status in (400, 404) or attempt == TRIES - 1:
                raise
            sleep(max(error.retry_after, min(30, 2**attempt)))


def pages(path, rows, total):
    page = last = 1
    while page <= last:
        found, last = read(f"{path}page={page}", lambda data: (list(data[rows]), -(-data[total] // data["limit"])))
        yield from found
        page += 1


class Queue:
    def __init__(self, folder):
        self.file = Path(folder) / "queue.sqlite"
        self.local = threading.local()
        with self.transaction() as db:
            for statement in SCHEMA.split(";"):
                db.execute(statement)
            for reference, payee, paise in JOBS:
                db.execute("INSERT OR IGNORE INTO jobs (reference, payee, paise) VALUES (?, ?, ?)", (reference, payee, paise))

    @contextmanager
    def transaction(self):
        if not hasattr(self.local, "db"):
            self.local.db = sqlite3.connect(self.file, timeout=20, isolation_level=None)
            self.local.db.row_factory = sqlite3.Row
        db = self.local.db
        db.execute("BEGIN IMMEDIATE")
        try:
            yield db
            db.execute("COMMIT")
        except BaseException:
            db.execute("ROLLBACK")
            raise

    def rows(self, where="true", *values):
        with self.transaction() as db:
            return db.execute(f"SELECT * FROM jobs WHERE {where} ORDER BY reference", values).fetchall()

    def close(self):
        if hasattr(self.local, "db"):
            self.local.db.close()
            del self.local.db

    # Paying

    def claim(self, owner):
        """Takes a job that nobody works on: a new one, one with an unknown result, or one whose worker is gone."""
        with self.transaction() as db:
            for job in db.execute("SELECT * FROM jobs WHERE state IN ('new', 'unknown', 'sending') ORDER BY reference").fetchall():
                if job["state"] == "sending" and time.time() < job["lease_until"] and is_alive(job["owner"]):
                    continue
                if not (BUG == "recovery_unclaimed" and job["state"] == "unknown"):
                    values = (owner, time.time() + LEASE, job["reference"])
                    db.execute("UPDATE jobs SET state = 'sending', owner = ?, lease_until = ? WHERE reference = ?", values)
                return job
        return None

    def renew(self, owner, job):
        with self.transaction() as db:
            values = (time.time() + LEASE, job["reference"], owner)
            done = db.execute("UPDATE jobs SET lease_until = ?, attempts = attempts + 1 WHERE reference = ? AND owner = ?", values)
            return done.rowcount == 1

    def work(self, owner):
        while self.rows("state IN ('new', 'unknown', 'sending')"):
            job = self.claim(owner)
            if job is None:
                time.sleep(0.02)
                continue
            try:
                self.pay(owner, job)
            except ApiError as error:
                state = "rejected" if error.refused else "unknown" if job["attempts"] < TRIES else "stuck"
                with self.transaction() as db:
                    values = (state, job["reference"])
                    db.execute("UPDATE jobs SET state = ? WHERE reference = ? AND state IN ('sending', 'unknown')", values)
                if error.retry_after:
                    sleep(error.retry_after)
        self.close()

    def pay(self, owner, job):
        reference, paise = job["reference"], job["paise"]
        if job["state"] != "new":
            sleep(QUIET)
        try:
            found = self.look_up(job)
        except ApiError as error:
            error.refused = False
            raise
        pause("lookup")
        if not self.renew(owner, job) and BUG != "recovery_unclaimed":
            return
        if found == "lookalike":
            with self.transaction() as db:
                db.execute("UPDATE jobs SET state = 'review' WHERE reference = ?", (reference,))
            return
        if found:
            if BUG == "lost_response_unbooked":
                with self.transaction() as db:
                    values = (word_of(found["transaction_status"]), found["transaction_id"], reference)
                    db.execute("UPDATE jobs SET state = ?, transaction_id = ? WHERE reference = ?", values)
                return
        else:
            body = {"from_user_id": PAYER, "to_user_id": f"00000000-0000-4000-8000-0000000000{job['payee']}"}
            body |= {"benif_bank_id": f"b0000000-0000-4000-8000-0000000000{job['payee']}", "amount": paise / 100}
            answer = call("POST", "/transaction", body | {"reference_id": reference})
            try:
                (found,) = answer["data"]
                word_of(found["transaction_status"]), found["transaction_id"], found["utr"]
            except BROKEN as error:
                raise ApiError("POST /transaction", error) from error
        pause("response")
        with self.transaction() as db:
            db.execute("UPDATE jobs SET transaction_id = ? WHERE reference = ?", (found["transaction_id"], reference))
            self.apply(db, self.job(db, reference), found["transaction_status"], found["utr"])

    def look_up(self, job):
        """Returns the payment of a job, if it was made. The history shows whether there is one, the list has its id."""
        history = list(pages("/transaction/history?type=debit&limit=100&", "transactions", "total_transactions"))
        if any(one["client_transaction_id"] == job["reference"] for one in history):
            for one in pages("/transaction?", "transactions", "total_transation"):
                if one["reference_id"] == job["reference"]:
                    return one
            raise ApiError("GET /transaction", LookupError("the list lacks what the history has"))
        amount = f"{job['paise'] // 100}.{job['paise'] % 100:02}"
        alike = (one for one in history if one["amount"] == amount and not str(one["client_transaction_id"]).startswith("wages-"))
        return "lookalike" if job["state"] != "new" and any(alike) else None

    # Settling

    def job(self, db, reference):
        return db.execute("SELECT * FROM jobs WHERE reference = ?", (reference,)).fetchone()

    def apply(self, db, job, word, utr):
        """Moves a job forward, and books what the step moves, in one transaction."""
        old, new, lines = job["state"], word_of(word), []
        if new == "success" and old != "success":
            lines = ["debit"]
        elif new == "failed" and old == "success":
            new, lines = "returned", [] if BUG == "return_not_booked" else ["credit"]
        elif new == "failed" and old == "returned" or new == "pending" and old in ("success", "failed", "returned"):
            new = old
        elif new == "failed" and old != "failed" and utr:
            new, lines = "returned", ["debit", "credit"]  # only money that has moved has a UTR
        elif new == "failed" and old != "failed" and BUG == "booked_on_failure":
            lines = ["debit"]
        if BUG == "utr_never_stored":
            utr = utr if new != old else None
        values = (new, utr or None, job["reference"])
        db.execute("UPDATE jobs SET state = ?, utr = coalesce(?, utr), version = version + 1 WHERE reference = ?", values)
        for direction in lines:
            db.execute("INSERT INTO ledger VALUES (?, ?, ?)", (job["reference"], direction, job["paise"]))

    def poll(self, job):
        """Asks for the status of a payment; what changed in the meantime is newer than the answer."""
        for _ in range(TRIES):
            try:
                row = read(f"/transaction/{job['transaction_id']}", lambda data: data[0] if data else None)
            except ApiError as error:
                if error.status == 404:
                    return
                raise
            pause("poll")
            if not row:
                return
            with self.transaction() as db:
                now = self.job(db, job["reference"])
                if BUG == "poll_overwrites_event":
                    return self.apply(db, job, row["transaction_status"], row["utr"])
                if now["version"] == job["version"]:
                    return self.apply(db, now, row["transaction_status"], row["utr"])
            job = now

    def settle(self):
        patience, pace = 3 * 86400, 5
        while patience > 0:
            for job in self.rows("transaction_id IS NOT NULL AND (state IN ('sending', 'pending') OR state = 'success' AND utr IS NULL)"):
                self.poll(job)
            if BUG == "utr_never_stored" and not self.rows("state = 'pending'"):
                return
            if not self.rows("state = 'pending' OR state = 'success' AND utr IS NULL"):
                return
            sleep(pace)
            patience, pace = patience - pace, min(pace * 2, 6 * 3600)

    def check_again(self):
        """A day later, returns have come."""
        sleep(26 * 3600)
        for job in self.rows("transaction_id IS NOT NULL"):
            self.poll(job)

    def receive(self, headers, body):
        event_id, stamp, given = (headers.get(f"webhook-{name}", "") for name in ("id", "timestamp", "signature"))
        right = b"v1," + base64.b64encode(hmac.digest(SECRET.encode(), f"{event_id}.{stamp}.".encode() + body, "sha256"))
        if not any(hmac.compare_digest(right, one.encode()) for one in given.split()):
            return 401
        if not stamp.isdigit() or abs(time.time() - int(stamp)) > 300:
            return 401
        event = json.loads(body)
        topic, _, word = event["type"].partition(".")
        if topic != "transaction" or word not in ("success", "failed"):
            return 204
        payment = event["data"]
        with self.transaction() as db:
            if db.execute("SELECT 1 FROM events WHERE id = ?", (event_id,)).fetchone():
                return 204
            job = db.execute("SELECT * FROM jobs WHERE transaction_id = ?", (payment["transaction_id"],)).fetchone()
            if job is None and BUG != "event_before_row":
                return 503  # perhaps the response of its call is still on its way: it comes again
            db.execute("INSERT INTO events VALUES (?)", (event_id,))
            if job is None:
                if word == "success":  # books it as somebody else's payment
                    paise = round(float(payment["amount"]) * 100)
                    db.execute("INSERT INTO ledger VALUES (?, 'debit', ?)", (payment["reference_id"], paise))
            elif job["state"] in ("sending", "pending") or word == "failed" and job["state"] == "success":
                self.apply(db, job, word, payment["utr"])
            # Anything else contradicts what we have, and the next poll decides.
        return 204


def word_of(word):
    return word.lower() if word.lower() in ("success", "failed") else "pending"


def is_alive(owner):
    try:
        os.kill(int(owner.split("-")[0]), 0)
        return True
    except ProcessLookupError:
        return False


class Receiver(BaseHTTPRequestHandler):
    timeout = 10

    def do_POST(self):
        try:
            status = self.server.queue.receive(self.headers, self.rfile.read(int(self.headers["content-length"])))
        except BROKEN as error:
            print(f"webhook: {error!r}", file=sys.stderr)
            status = 400
        self.server.queue.close()
        self.send_response(status)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_request(self, *_):
        pass


def register(url):
    body = {"url": url, "webhook_secret": SECRET}
    for attempt in range(TRIES):
        try:
            try:
                return call("POST", "/clientWebhook", body)
            except ApiError as error:
                if error.status != 409:
                    raise
                return call("PUT", "/clientWebhook", body)
        except ApiError as error:
            if error.status in (400, 404) or attempt == TRIES - 1:
                raise
            sleep(max(error.retry_after, min(30, 2**attempt)))


def run(folder):
    queue = Queue(folder)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
    server.queue = queue
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    with closing(queue):
        register(f"http://127.0.0.1:{server.server_port}/webhook")
        workers = [threading.Thread(target=queue.work, args=(f"{os.getpid()}-{number}",)) for number in (1, 2)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        queue.settle()
        queue.check_again()
        states = {job["reference"]: job["state"] for job in queue.rows()}
        server.shutdown()
    print(states)
    return 0 if set(states.values()) <= {"success", "failed", "returned"} else 1


def books(folder):
    out = csv.writer(sys.stdout)
    out.writerow(["reference", "direction", "amount", "utr"])
    with closing(sqlite3.connect(Path(folder) / "queue.sqlite")) as db:
        for reference, direction, paise, utr in db.execute("SELECT l.*, j.utr FROM ledger l LEFT JOIN jobs j USING (reference)"):
            out.writerow([reference, direction, f"{paise // 100}.{paise % 100:02}", utr or ""])
    return 0


@contextmanager
def folder():
    """JOBS_DIR, the run's folder, or one that all workers of this sandbox share until the last one ends."""
    given = os.environ.get("JOBS_DIR") or os.environ.get("PAYOUT_SANDBOX_RUN_DIR")
    if given:
        yield given
        return
    path = Path(tempfile.gettempdir()) / f"queue-worker-{hashlib.sha256(URL.encode()).hexdigest()[:12]}"
    with open(f"{path}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_SH)
        path.mkdir(exist_ok=True)
        try:
            yield path
        finally:
            fcntl.flock(lock, fcntl.LOCK_UN)
            with suppress(OSError):  # another worker still has it
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(path, ignore_errors=True)
                os.unlink(f"{path}.lock")


if __name__ == "__main__":
    with folder() as where:
        sys.exit({"run": run, "books": books}[sys.argv[1]](where))
