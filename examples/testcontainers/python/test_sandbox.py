"""With payout_sandbox.py of clients/python beside it: pytest."""

import pytest
from payout_sandbox import Sandbox
from payout_sandbox_container import PayoutSandboxContainer


@pytest.fixture(scope="session")
def sandbox():
    with PayoutSandboxContainer() as container, pytest.MonkeyPatch.context() as env:
        env.setenv("PAYOUT_SANDBOX_URL", container.url)
        env.setenv("PAYOUT_SANDBOX_ADMIN_TOKEN", container.admin_token)
        yield Sandbox()


def test_time_is_moved_in_the_container(sandbox):
    world = sandbox.world("test-1")
    before = world.now()
    world.advance("2d")
    assert (world.now() - before).days == 2
