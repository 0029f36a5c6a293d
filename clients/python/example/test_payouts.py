"""Run it: PYTHONPATH=.. python3 -m pytest"""

import contextlib
import http.client
import json
from datetime import timedelta

import pytest
from payout_sandbox import Sandbox, SandboxError
from payouts import Payouts

# Asha pays Rohan. Both are in the sandbox's example data: see fixtures/README.md.
PAYOUT = {
    "from_user_id": "00000000-0000-4000-8000-000000000001",
    "to_user_id": "00000000-0000-4000-8000-000000000003",
    "benif_bank_id": "b0000000-0000-4000-8000-000000000003",
    "amount": 100,
    "reference_id": "salary-2026-01",
}


@pytest.fixture
def payouts(payout_world):
    return Payouts(payout_world.url, payout_world.token)


def test_a_payment_arrives(payout_world, payouts):
    payouts.pay(PAYOUT)
    assert payouts.status(PAYOUT) == "PENDING"
    assert [timer["status"] for timer in payout_world.advance("3s")] == ["PROCESSING", "SUCCESS"]
    assert payouts.status(PAYOUT) == "SUCCESS"


def test_a_payment_of_100_92_fails(payout_world, payouts):
    payouts.pay({**PAYOUT, "amount": 100.92})
    payout_world.advance("1h")
    assert payouts.status(PAYOUT) == "FAILED"


def test_a_response_is_lost_and_the_money_moves_once(payout_world, payouts):
    payout_world.save("before")
    payout_world.scenario("lost-responses")
    payouts.pay(PAYOUT)
    assert len(payout_world.diff("before")["payments"]["added"]) == 1
    payout_world.verify({"operation": "createTransaction"}, exactly=1)


# What urllib raises if a scenario breaks the response. The payment is made all the same, and pay() pays once.
FAULTS = {
    "reset": ConnectionResetError,
    "empty": http.client.RemoteDisconnected,
    "truncate": http.client.IncompleteRead,
    "malformed": json.JSONDecodeError,
    "hang": TimeoutError,
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_broken_response(payout_world, fault):
    payouts = Payouts(payout_world.url, payout_world.token, timeout=1 if fault == "hang" else 5)
    payout_world.rule(when={"operation": "getClientProfile"}, then={"fault": fault})
    with pytest.raises(FAULTS[fault]) as failure:
        payouts._call("/client/profile")
    assert failure.type is FAULTS[fault]
    payout_world.rule(when={"operation": "createTransaction"}, then={"fault": fault, "at": "after"}, times=1)
    payouts.pay(PAYOUT)
    payout_world.verify({"operation": "createTransaction"}, exactly=1)


def test_a_payment_is_pending_for_25_minutes(payout_world, payouts):
    slow = [{"status": "PENDING"}, {"status": "SUCCESS", "after": "25m"}]
    payout_world.rule(when={"operation": "createTransaction"}, then={"transaction": slow})
    start = payout_world.now()
    payouts.pay(PAYOUT)
    payout_world.advance(timedelta(minutes=24, seconds=59))
    assert payouts.status(PAYOUT) == "PENDING"
    payout_world.advance("1s")
    assert payouts.status(PAYOUT) == "SUCCESS"
    assert payout_world.now() - start == timedelta(minutes=25)


def test_code_that_polls_sees_the_end(payout_world, payouts):
    payout_world.resume(speed=1000)
    payouts.pay(PAYOUT)
    payout_world.wait("transaction", {"reference_id": PAYOUT["reference_id"], "transaction_status": "success"})
    assert payouts.status(PAYOUT) == "SUCCESS"


def test_webhooks_are_verified(payout_world, payout_webhooks, payouts):
    payouts.pay(PAYOUT)
    payout_world.advance("3s")
    names = [event["type"] for event in payout_webhooks.events]
    assert names == ["transaction.pending", "transaction.processing", "transaction.success"]
    payout_world.scenario("webhook-bad-signatures")
    payouts.pay({**PAYOUT, "reference_id": "salary-2026-02"})
    payout_world.advance("3s")
    assert len(payout_webhooks.events) == 3
    assert set(payout_webhooks.refused) == {
        "the signature does not fit",
        "a webhook header is missing",
        "the timestamp is too old or too new",
    }


def test_a_handler_that_raises_gets_the_event_again(payout_world, payouts):
    seen = []

    def handler(event):
        seen.append(event["id"])
        if len(seen) == 1:
            raise RuntimeError("the first attempt fails")

    with contextlib.closing(payout_world.receiver(handler)):
        payouts.pay(PAYOUT)
        payout_world.advance("1s")
    assert seen.count(seen[0]) == 2


def test_the_other_calls(payout_sandbox, payout_world, payouts):
    other = payout_sandbox.world("other")
    with pytest.raises(ValueError, match="not 'Bad Name'"):
        payout_sandbox.world("Bad Name")
    with pytest.raises(SandboxError, match="INV-8") as failure:
        payouts.pay({**PAYOUT, "reference_id": "INV-7"})
        payout_world.verify({"body": {"reference_id": "INV-8"}})
    assert failure.value.code == "verification_failed" and failure.value.errors
    payout_world.verify({"operation": "createTransaction"}, at_least=1)
    with pytest.raises(SandboxError, match=r"(?s)known keys.*\nthen.x: unknown key.*\nthen.y: unknown key"):
        payout_world.rule(when={"operation": "*"}, then={"x": 1, "y": 1})
    payout_world.save("paid")
    success = {"reference_id": "INV-7", "transaction_status": "success"}
    payout_world.wait("transaction", success, advance=timedelta(days=2))
    assert len(payout_world.reconcile([], from_="2026-01-01")["differences"]) == 1
    for days in ({"date": "2025-12-31"}, {"to": "2024-12-31"}):
        assert payout_world.reconcile([], **days)["differences"] == []
    payout_world.restore("paid")
    assert payouts.status({**PAYOUT, "reference_id": "INV-7"}) == "PENDING"
    before = other.assumptions()
    payout_world.assume(page_past_the_end="not_found")
    assert payout_world.assumptions()["page_past_the_end"] == "not_found"
    assert other.assumptions() == before
    with pytest.raises(SandboxError, match="within 0 ms"):
        other.wait("transaction", {"reference_id": "INV-7"}, timeout_ms=0)


def test_the_books_agree_after_two_days(payout_world, payouts):
    back = [{"status": "PENDING"}, {"status": "SUCCESS", "after": "3s"}, {"status": "FAILED", "after": "1d"}]
    when = {"operation": "createTransaction", "body": {"reference_id": "comes back"}}
    payout_world.rule(when=when, then={"transaction": back})
    amounts = {"paid": 100, "fails": 100.91, "comes back": 300}
    books = [{"reference": reference, "amount": amount} for reference, amount in amounts.items()]
    for row in books:
        payouts.pay({**PAYOUT, "reference_id": row["reference"], "amount": row["amount"]})
    payout_world.advance("2d")
    for row in books:  # yours would be in your database
        row["status"] = payouts.status({**PAYOUT, "reference_id": row["reference"]})
    assert payout_world.reconcile(books)["differences"] == []


def test_a_sandbox_that_cannot_start_says_why(capfd, monkeypatch):
    monkeypatch.setenv("PAYOUT_SANDBOX_URL", "http://127.0.0.1:1/v1")
    with pytest.raises(RuntimeError, match="PAYOUT_SANDBOX_URL=http://127.0.0.1:1/v1 .*Connection refused.*: start one"):
        Sandbox()
    monkeypatch.delenv("PAYOUT_SANDBOX_URL")
    with pytest.raises(RuntimeError, match="exit code 2"):
        Sandbox("--no-such-option")
    assert "--no-such-option" in capfd.readouterr().err
    for program, why in {"/no/such/program": "cannot run", "echo": "printed 'start"}.items():
        monkeypatch.setenv("PAYOUT_SANDBOX_BIN", program)
        with pytest.raises(RuntimeError, match=f"{program}.*: set PAYOUT_SANDBOX_BIN to") as failure:
            Sandbox()
        assert why in str(failure.value)
