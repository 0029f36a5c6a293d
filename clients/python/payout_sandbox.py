"""A client of payout-sandbox for tests in Python 3.10 or later. It uses the standard library only.

With pytest, write `pytest_plugins = ["payout_sandbox"]` in conftest.py, and use the fixtures at the end.
"""

from __future__ import annotations

import atexit
import base64
import contextlib
import hashlib
import hmac
import json
import os
import re
import secrets
import shutil
import subprocess
import threading
import time
import traceback
import urllib.error
import urllib.request
from datetime import datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Callable, Iterator, Mapping

# A sandbox is on this machine or near it: a proxy from the environment cannot reach it.
_http = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class SandboxError(Exception):
    """The sandbox rejected a call. `code` is an error code of docs/errors.md."""

    def __init__(self, status: int, code: str, message: str, errors: list[dict]):
        lines = [f"{one['field']}: {one['message']}" for one in errors]
        super().__init__("\n".join([message, *lines] if len(lines) > 1 else [message]))
        self.status, self.code, self.errors = status, code, errors


def _send(method: str, url: str, body: Any, headers: Mapping[str, str]) -> Any:
    request = urllib.request.Request(url, method=method, headers=dict(headers))
    if body is not None:
        request.data = json.dumps(body).encode()
        request.add_header("content-type", "application/json")
    try:
        with _http.open(request, timeout=120) as response:
            return json.load(response)
    except urllib.error.HTTPError as failure:
        with failure:
            error = json.load(failure)
    raise SandboxError(error["code"], error["error"], error["message"], error["errors"])


def _duration(by: str | timedelta | None) -> str | None:
    return f"{by // timedelta(milliseconds=1)}ms" if isinstance(by, timedelta) else by


class World:
    """One client of a sandbox. It shares no users, payments, clock, scenario or webhook with other worlds."""

    def __init__(self, root: str, name: str, admin_token: str | None = None):
        self.base = f"{root}/@{name}"
        self.url, self.token = f"{self.base}/v1", f"sbx_{name}"  # for the code under test
        self._headers = {"x-admin-token": admin_token or "", "authorization": f"Bearer {self.token}"}

    def call(self, method: str, path: str, body: Any = None) -> Any:
        """Makes a call such as `call("GET", "/__admin/webhooks/deliveries")`, and returns its response."""
        return _send(method, self.base + path, body, self._headers)

    def reset(self, *parts: str) -> None:
        """Restores fixtures, clock and scenario, or only some parts."""
        self.call("POST", "/__admin/reset", {"parts": parts} if parts else {})

    def now(self) -> datetime:
        """Returns the time of this world's clock."""
        return datetime.fromisoformat(self.call("GET", "/__admin/clock")["now"].replace("Z", "+00:00"))

    def freeze(self, at: str | None = None) -> None:
        """Stops the clock, now or at an ISO 8601 instant."""
        self.call("POST", "/__admin/clock/freeze", {"at": at} if at else {})

    def resume(self, speed: float | None = None) -> None:
        """Lets the clock run, for code that polls: `resume(60)` runs a minute of this world in a second."""
        self.call("POST", "/__admin/clock/resume", {})
        if speed is not None:
            self.call("POST", "/__admin/clock/speed", {"factor": speed})

    def advance(self, by: str | timedelta) -> list[dict]:
        """Moves the clock by "25m" or a timedelta. Returns the timers that ran, when all has settled."""
        return self.call("POST", "/__admin/clock/advance", {"by": _duration(by)})["fired"]

    def scenario(self, name: str) -> None:
        """Activates a scenario."""
        self.call("PUT", "/__admin/scenario", {"name": name})

    def rule(self, **rule: Any) -> str:
        """Puts a rule before the scenario: `rule(when={...}, then={...}, times=1)`. Returns its id."""
        return self.call("POST", "/__admin/rules", rule)["rule_id"]

    def assume(self, **readings: str | None) -> None:
        """Chooses readings of assumptions: `assume(idempotency_key="honoured")`. None undoes a choice."""
        self.call("PUT", "/__admin/assumptions", readings)

    def assumptions(self) -> dict[str, str]:
        """Returns the reading in force of each assumption."""
        return {one["name"]: one["reading"] for one in self.call("GET", "/__admin/assumptions")["assumptions"]}

    def verify(self, match: Mapping, **how: int) -> int:
        """Raises unless `exactly`, `at_least` (default: 1) or `at_most` calls match. Returns their number."""
        return self.call("POST", "/__admin/requests/verify", {"match": match, **how})["count"]

    def wait(
        self, what: str, match: Mapping, timeout_ms: int = 10_000, advance: str | timedelta | None = None
    ) -> dict:
        """Returns a request, transaction, kyc or delivery as soon as one matches, or raises.

        `advance="2d"` moves a frozen clock on meanwhile, by at most two days.
        """
        body = {"for": what, "match": match, "timeout_ms": timeout_ms, "advance": _duration(advance)}
        return self.call("POST", "/__admin/wait", body)[what]

    def reconcile(
        self, rows: list[Mapping], date: str | None = None, from_: str | None = None, to: str | None = None
    ) -> dict:
        """Compares your books with what really happened, or with the statement of some days: see docs/books.md."""
        return self.call("POST", "/__admin/reconcile", {"rows": rows, "date": date, "from": from_, "to": to})

    def save(self, snapshot: str) -> None:
        """Saves the state under a name."""
        self.call("POST", "/__admin/snapshots", {"name": snapshot})

    def restore(self, snapshot: str) -> None:
        """Goes back to a saved state."""
        self.call("POST", f"/__admin/snapshots/{snapshot}/restore", {})

    def diff(self, snapshot: str) -> dict:
        """Returns what was added, removed and changed since a saved state, by table."""
        return self.call("GET", f"/__admin/snapshots/{snapshot}/diff")["tables"]

    def register_webhook(self, url: str, secret: str) -> None:
        """Registers the webhook of this client."""
        self.call("POST", "/v1/clientWebhook", {"url": url, "webhook_secret": secret})

    def receiver(self, on_event: Callable[[dict], Any] | None = None) -> Receiver:
        """Starts a receiver and registers it as the webhook of this client. Close it."""
        secret = secrets.token_urlsafe()
        receiver = Receiver(secret, on_event)
        self.register_webhook(receiver.url, secret)
        return receiver


class Sandbox(contextlib.AbstractContextManager):
    """The sandbox at PAYOUT_SANDBOX_URL, or a new one with these options: in memory, with a frozen clock."""

    def __init__(self, *options: str):
        self._process: subprocess.Popen[str] | None = None
        url, self._admin_token = map(os.environ.get, ("PAYOUT_SANDBOX_URL", "PAYOUT_SANDBOX_ADMIN_TOKEN"))
        if not url:
            url, self._admin_token = self._start(options)
        self.root = url.split("/@")[0].rstrip("/").removesuffix("/v1")
        if self._process is None:
            self._check(url)

    def _check(self, url: str) -> None:
        try:
            _send("GET", f"{self.root}/__admin/health", None, {})
        except Exception as failure:
            hint = "start one there, or unset the variable"
            raise RuntimeError(f"found no sandbox at PAYOUT_SANDBOX_URL={url} ({failure}): {hint}") from failure

    def _start(self, options: tuple[str, ...]) -> tuple[str, str | None]:
        program = os.environ.get("PAYOUT_SANDBOX_BIN") or "payout-sandbox"
        words = ["start", "--memory", "--port", "0", "--json", "--stop-with-stdin", *options]
        env = {"PAYOUT_SANDBOX_CLOCK": "frozen", "PAYOUT_SANDBOX_LOG_LEVEL": "warn", **os.environ}
        hint = "set PAYOUT_SANDBOX_BIN to the path of payout-sandbox, or PAYOUT_SANDBOX_URL to a running sandbox"
        try:
            command = [shutil.which(program) or program, *words]
            self._process = subprocess.Popen(command, env=env, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        except OSError as failure:
            raise RuntimeError(f"cannot run {program} ({failure.strerror}): {hint}") from failure
        line = self._process.stdout.readline()
        if not line.startswith("{"):
            if line:
                self._process.kill()
            self._process.communicate()
            ended = f"ended with exit code {self._process.returncode}: see its message"
            raise RuntimeError(f"{program} " + (f"printed {line!r}, not JSON: {hint}" if line else ended))
        atexit.register(self.close)
        ready = json.loads(line)
        return ready["url"], ready.get("admin_token")

    def world(self, name: str) -> World:
        """Returns the client with this name: 1 to 63 of `a-z`, `0-9` and `-`. The first call to it creates it."""
        if not re.fullmatch("[a-z0-9][a-z0-9-]{0,62}", name):
            raise ValueError(f"a world is named with 1 to 63 of a-z, 0-9 and -, not {name!r}")
        return World(self.root, name, self._admin_token)

    def close(self) -> None:
        """Stops the sandbox, if this object started it."""
        if self._process and self._process.poll() is None:
            self._process.communicate()  # closes its standard input

    def __exit__(self, *_: object) -> None:
        self.close()


def verify_webhook(headers: Mapping[str, str], body: bytes, secret: str) -> None:
    """Raises ValueError unless the webhook is genuine and new. Header names are in lower case."""
    webhook_id, timestamp, signatures = (headers.get(f"webhook-{name}") for name in ("id", "timestamp", "signature"))
    if not webhook_id or not timestamp or not signatures:
        raise ValueError("a webhook header is missing")
    signed = f"{webhook_id}.{timestamp}.".encode() + body
    right = b"v1," + base64.b64encode(hmac.new(secret.encode(), signed, hashlib.sha256).digest())
    if not any(hmac.compare_digest(right, given.encode()) for given in signatures.split(" ")):
        raise ValueError("the signature does not fit")
    if not timestamp.isdigit() or abs(time.time() - int(timestamp)) > 300:
        raise ValueError("the timestamp is too old or too new")


class Receiver:
    """Receives webhooks: genuine ones are in `events` and go to `on_event`, `refused` has why others are not."""

    def __init__(self, secret: str, on_event: Callable[[dict], Any] | None = None):
        self.events: list[dict] = []
        self.refused: list[str] = []

        def status_of(headers: Mapping[str, str], body: bytes) -> int:
            try:
                verify_webhook(headers, body, secret)
            except ValueError as reason:
                self.refused.append(str(reason))
                return 401
            self.events.append(event := json.loads(body))
            try:
                on_event and on_event(event)
                return 204
            except Exception:
                traceback.print_exc()
                return 500

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                self.send_response(status_of(self.headers, self.rfile.read(int(self.headers["content-length"]))))
                self.end_headers()

            def log_message(self, *_: object) -> None: ...

        # Not HTTPServer: it serves one connection at a time, and the sandbox keeps connections open.
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/webhook"
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


with contextlib.suppress(ImportError):
    import pytest

    @pytest.fixture(scope="session")
    def payout_sandbox() -> Iterator[Sandbox]:
        """One sandbox for each test process. Override it in conftest.py for other options."""
        with Sandbox() as sandbox:
            yield sandbox

    @pytest.fixture
    def payout_world(payout_sandbox: Sandbox) -> World:
        """The world of this pytest-xdist worker, reset before each test, with a frozen clock."""
        world = payout_sandbox.world(os.environ.get("PYTEST_XDIST_WORKER", "pytest"))
        world.reset()
        world.freeze()
        return world

    @pytest.fixture
    def payout_webhooks(payout_world: World) -> Iterator[Receiver]:
        """A receiver that is registered as the webhook of payout_world."""
        with contextlib.closing(payout_world.receiver()) as receiver:
            yield receiver
