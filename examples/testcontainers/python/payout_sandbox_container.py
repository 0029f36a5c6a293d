"""A container of the sandbox for tests. Needs a container engine, and pip install "testcontainers>=4.13"."""

from __future__ import annotations

import secrets

from testcontainers.core.container import DockerContainer
from testcontainers.core.wait_strategies import HttpWaitStrategy

PORT = 4310


class PayoutSandboxContainer(DockerContainer):
    """A sandbox with a frozen clock. More options are variables: `.with_env("PAYOUT_SANDBOX_SCENARIO", "slow")`."""

    def __init__(self, image: str = "payout-sandbox:latest") -> None:
        super().__init__(image)
        self.admin_token = secrets.token_urlsafe()
        self.with_exposed_ports(PORT)
        self.with_env("PAYOUT_SANDBOX_ADMIN_TOKEN", self.admin_token)
        self.with_env("PAYOUT_SANDBOX_CLOCK", "frozen")
        self.waiting_for(HttpWaitStrategy(PORT, "/__admin/ready").for_status_code(200))

    @property
    def url(self) -> str:
        """What the code under test calls. clients/python takes it from PAYOUT_SANDBOX_URL."""
        return f"http://{self.get_container_host_ip()}:{self.get_exposed_port(PORT)}/v1"
