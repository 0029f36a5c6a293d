"""The code to test: it makes a payment and reads its status."""

import json
import time
import urllib.request
from http.client import HTTPException

TRIES = 3
LONGEST_WAIT = 2


class Payouts:
    def __init__(self, url, token, timeout=5):
        self.url, self.token, self.timeout = url, token, timeout

    def pay(self, payout):
        """Pays once, also if a response is lost: before each try it looks for the payment in the history.

        If it raises after the last try, call it again later.
        """
        for attempt in range(1, TRIES + 1):
            if self._find(payout):
                return
            try:
                self._call("/transaction", payout)
                return
            except (OSError, HTTPException, ValueError) as failure:  # not every broken response is an OSError
                if getattr(failure, "code", 500) < 500 or attempt == TRIES:
                    raise
                asked = getattr(failure, "headers", {}).get("retry-after", 0)
                time.sleep(min(float(asked), LONGEST_WAIT))

    def status(self, payout):
        """Returns PENDING, PROCESSING, SUCCESS or FAILED."""
        return self._find(payout)["status"]

    def _find(self, payout):
        page, pages = 1, 1
        while page <= pages:
            history = self._call(f"/transaction/history/user/{payout['from_user_id']}?page={page}")
            for payment in history["transactions"]:
                if payment["client_transaction_id"] == payout["reference_id"]:
                    return payment
            page, pages = page + 1, history["total_pages"]
        return None

    def _call(self, path, body=None):
        headers = {"authorization": f"Bearer {self.token}", "content-type": "application/json"}
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, headers)
        with urllib.request.urlopen(request, timeout=self.timeout) as response:
            return json.load(response)["data"]
