"""The agent on a kernel of its own, its units as they are shipped; `make campaign ONLY=displays` cuts its power."""

import uuid
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from tests.diary import progress
from tests.machines.displays.conftest import Seen
from tests.machines.displays.kernels import emulated
from tests.stack import Stack, enrolled, eventually

T = TypeVar("T")
CLOCK = "the clock is not synchronised and may be wrong"
MINUTES = 1800.0  # an emulated machine boots slowly, the more so beside other suites


def in_the_end(look: Callable[[], T | None], what: str) -> T:
    """As `eventually`, for what takes longer than the runner lets a suite be mute."""

    def looked() -> T | None:
        progress(what)
        return look()

    return eventually(looked, what, MINUTES)


def test_a_display_of_1990_is_heard_and_its_reboot_is_another_boot(stack: Stack, tmp_path: Path) -> None:
    api, name = stack.api(), str(uuid.uuid4())
    login = replace(enrolled(api, name), url=api.url)
    seen = Seen(api, name)
    with emulated(tmp_path, login, (int(stack.ports["GATEWAY_PORT"]), login.port)) as machine:
        machine.boot("-rtc", "base=1990-01-01")
        first = in_the_end(seen.runs, "the display")["boot_id"]
        in_the_end(lambda: f"Trouble: {CLOCK}." in seen.logs(), "the trouble")
        assert f"trouble   {CLOCK}" in machine.run("signage-display status")

        sent = seen.send("reboot_host")
        rebooted = in_the_end(lambda: seen.over(sent), "the end of the reboot")
        in_the_end(lambda: seen.client()["boot_id"] != first and seen.runs(), "the display after its reboot")

    assert rebooted["state"] == "succeeded", rebooted
