import base64
import contextlib
import hashlib
import hmac
import json
import os
import tempfile
import time
import unittest
import urllib.error
import urllib.request
from pathlib import Path

from vendor_payouts import OPENER, VERIFIED, Api, ApiError, VendorPayouts

PAYER = "00000000-0000-4000-8000-000000000001"
SECRET = "vendor-payouts-test-secret"


class SandboxClock:
    """Sleeps by moving the clock of the sandbox, so that hours pass in milliseconds."""

    def __init__(self, admin_url):
        self.url = f"{admin_url}/clock/advance"
        token = os.environ.get("PAYOUT_SANDBOX_ADMIN_TOKEN", "")
        self.headers = {"Content-Type": "application/json", "X-Admin-Token": token}

    def sleep(self, seconds):
        body = json.dumps({"by": f"{round(seconds * 1000)}ms"}).encode()
        for last in (False, False, True):
            try:
                OPENER.open(urllib.request.Request(self.url, body, self.headers), timeout=120).close()
                return
            except urllib.error.HTTPError as error:
                error.close()
                if error.code != 409 or last:
                    raise


def person(number, **changes):
    return {
        "name": f"Vendor {'ABCDEFGH'[number]} Supplies",
        "email": f"accounts{number}@vendor.example.com",
        "mobile": f"+9198765000{number:02}",
        "pan": f"XXXPX70{number:02}A",
        "aadhaar": f"9999999107{number:02}",
        "born": "15-08-1990",
        "account": f"9999550010{number:02}",
        "ifsc": "HDFC0000001",
        **changes,
    }


def sandbox_api():
    clock = SandboxClock(os.environ["PAYOUT_SANDBOX_ADMIN_URL"])
    return Api(os.environ["PAYOUT_SANDBOX_URL"], os.environ["PAYOUT_SANDBOX_TOKEN"], clock.sleep)


def tearDownModule():
    """If the ledgers are kept, the next day's comparison with the history; one that fails is due again tomorrow."""
    ledgers = sorted(Path(os.environ.get("PAYOUT_SANDBOX_RUN_DIR", "/nowhere")).glob("*.sqlite"))
    api = sandbox_api()
    if ledgers:
        api.sleep(26 * 3600)
    for ledger in ledgers:
        with contextlib.closing(VendorPayouts(api, ledger, PAYER, SECRET, f"VP-{ledger.stem}")) as app:
            with contextlib.suppress(ApiError):
                app.reconcile()


class VendorPayoutsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="vendor-payouts-")
        self.addCleanup(folder.cleanup)
        self.company = self._testMethodName[5].upper()
        self.ledger = Path(os.environ.get("PAYOUT_SANDBOX_RUN_DIR", folder.name)) / f"{self.company}.sqlite"
        self.api = sandbox_api()

    @contextlib.contextmanager
    def app(self):
        with contextlib.closing(VendorPayouts(self.api, self.ledger, PAYER, SECRET, f"VP-{self.company}")) as app:
            app.register_webhook()
            yield app

    def payments_of(self, app, vendor):
        """The payments that the service made to a vendor, whatever their reference."""
        (row,) = app.sql("SELECT account_end FROM vendors WHERE code = ?", vendor)
        path = "/transaction/history?type=debit&limit=100&"
        rows = self.api.pages(path, "transactions", "total_transactions", size=0)
        return {one["id"]: one for one in rows if one["account_number"].endswith(row["account_end"])}

    def assert_settled(self, app, vendor, invoices):
        payments = self.payments_of(app, vendor)
        self.assertEqual(len(payments), len(invoices))
        states = {one["invoice"]: one["state"] for one in app.payouts("vendor = ?", vendor)}
        self.assertEqual(states, {invoice: "success" for invoice in invoices})

    def send(self, app, event, secret=SECRET, age=0):
        body, stamp = json.dumps(event).encode(), str(int(time.time() - age))
        digest = hmac.digest(secret.encode(), f"{event['id']}.{stamp}.".encode() + body, hashlib.sha256)
        headers = {
            "webhook-id": event["id"],
            "webhook-timestamp": stamp,
            "webhook-signature": f"v1,{base64.b64encode(digest).decode()}",
        }
        try:
            with OPENER.open(urllib.request.Request(app.receiver_url, body, headers), timeout=5) as response:
                return response.status
        except urllib.error.HTTPError as error:
            error.close()
            return error.code

    def test_a_vendor_is_onboarded_and_paid_once(self):
        with self.app() as app:
            self.assertEqual(app.onboard("acme", person(1)), "verified")
            app.add_payout("INV-1", "acme", "1500.50")
            app.add_payout("INV-2", "acme", "249.75")
            app.run()
            app.settle()
            self.assert_settled(app, "acme", ["INV-1", "INV-2"])
            self.assertEqual(app.balance("acme"), 175025)

    def test_b_vendor_is_paid_only_if_every_paper_is_valid(self):
        with self.app() as app:
            state = app.onboard("fake", person(2, pan="XXXPX0003A"))
            (vendor,) = app.sql("SELECT * FROM vendors")
            pick = lambda answer: answer["data"]["response"]["data"]["kycData"]  # noqa: E731
            papers = {row["kyc_status"] for row in self.api.read(f"/kyc/{vendor['user_id']}", pick)}
            self.assertEqual(state, "verified" if papers <= VERIFIED else "refused")
            app.add_payout("INV-1", "fake", "900.00")
            app.run()
            self.assertEqual(len(self.payments_of(app, "fake")), 1 if state == "verified" else 0)

    def test_c_restart_between_two_passes(self):
        with self.app() as app:
            self.assertEqual(app.onboard("bolt", person(3)), "verified")
            app.add_payout("INV-1", "bolt", "4100.20")
            app.add_payout("INV-2", "bolt", "310.00")
            app.submit_due()
        with self.app() as app:
            app.run()
            app.settle()
            self.assert_settled(app, "bolt", ["INV-1", "INV-2"])

    def test_d_events(self):
        with self.app() as app:
            self.assertEqual(app.onboard("cord", person(4)), "verified")
            app.add_payout("INV-1", "cord", "77.10")
            app.run()
            (payout,) = app.payouts("true")
            rows = self.api.pages("/transaction?", "transactions", "total_transation", size=0)
            (payment,) = [row for row in rows if row["reference_id"] == payout["reference"]]
            event = {"id": "evt_forged", "type": "transaction.failed", "data": payment}
            self.assertEqual(self.send(app, event, secret="guessed"), 401)
            self.assertEqual(self.send(app, event, age=3600), 401)
            self.assertNotEqual(app.payouts("true")[0]["state"], "failed")
            app.settle()
            event = {"id": "evt_again", "type": "transaction.success", "data": payment}
            self.assertEqual([self.send(app, event), self.send(app, event)], [204, 204])
            self.api.sleep(3600)
            self.assert_settled(app, "cord", ["INV-1"])
            self.assertEqual(app.balance("cord"), 7710)

    def test_e_day_end(self):
        invoices = [f"INV-{number:02}" for number in range(1, 13)]
        with self.app() as app:
            self.assertEqual(app.onboard("dyes", person(5)), "verified")
            for number, invoice in enumerate(invoices):
                app.add_payout(invoice, "dyes", f"{1000 + number}.05")
            app.run()
            app.settle()
            self.api.sleep(26 * 3600)
            self.assertEqual(app.reconcile(), [])
            payments = {one["client_transaction_id"]: one for one in self.payments_of(app, "dyes").values()}
            self.assertEqual(len(payments), len(invoices))
            kept = 0
            for payout in app.payouts("true"):
                self.assertEqual(payout["state"], payments[payout["reference"]]["status"].lower())
                self.assertTrue(payout["utr"] or payout["state"] == "failed")
                kept += payout["paise"] if payout["state"] == "success" else 0
            self.assertEqual(app.balance("dyes"), kept)


if __name__ == "__main__":
    unittest.main()
