"""docs/protocol.md shows exactly the messages that the reference client sends and understands."""

import json
import re
from datetime import UTC, datetime
from typing import Any

import pytest

from deploy.displays.simulated import contract
from deploy.displays.simulated.state import Boot, DisplayState, Send
from deploy.parts.layout import REPOSITORY

DOCUMENT = (REPOSITORY / "docs" / "protocol.md").read_text(encoding="utf-8")
STAMP = {"install_id", "boot_seq", "seq", "ts"}
NOW = datetime(2026, 3, 1, tzinfo=UTC)


def example(marker: str) -> Any:
    """The first JSON block after `marker`."""
    after = DOCUMENT[DOCUMENT.index(marker) :]
    block = re.search(r"```json\n(.*?)```", after, re.DOTALL)
    assert block is not None
    return json.loads(block[1])


@pytest.fixture
def state() -> DisplayState:
    return DisplayState(Boot("installation-a", 1, "boot-1"), "app-1", capabilities=["restart_app", "reboot_host"])


def test_every_upward_example_has_the_fields_that_the_reference_sends(state: DisplayState) -> None:
    vitals = dict.fromkeys(
        ["cpu_percent", "memory_percent", "disk_percent", "temperature_celsius", "app_version", "os", "ip", "hostname"],
        1,
    )
    told = state.refuse(contract.Command("c1", "restart_app", None, None, 1), "expired", NOW)
    ack = next(effect.body for effect in told if isinstance(effect, Send))
    sent = {
        "**heartbeat**": state.heartbeat(NOW),
        "**health**": state.health(vitals, NOW),
        "**logs/": state.log("hello", "player", {}, NOW),
        "**service_failed**": state.service_failed("player.service", "exit-code", 1, NOW),
        "**acks**": ack,
    }

    for marker, body in sent.items():
        assert set(example(marker)) == set(body) - STAMP, marker
    assert set(example("## 3. The stamp")) == STAMP
    health = state.health(vitals, NOW)
    assert set(example("**health**")["recent_acks"][0]) == set(health["recent_acks"][0])
    assert set(example("**health**")["service_failed"]) == set(health["service_failed"])


def test_every_downward_example_is_understood() -> None:
    command = contract.parse_command(json.dumps(example("## 5. Commands")).encode())
    mark = contract.parse_logs_committed(json.dumps(example("## 7. The log spool")).encode())
    order = contract.parse_log_level(json.dumps(example("## 8. A temporary log level")).encode())

    assert command.action == "restart_app"
    assert mark.seq == 40
    assert order == contract.LogLevelOrder("debug", 900)


@pytest.mark.parametrize(
    "kind",
    [contract.HEARTBEAT, contract.HEALTH, contract.LOGS, contract.SERVICE_FAILED, contract.ACKS, contract.PRESENCE],
)
def test_the_table_of_topics_states_the_limits_that_the_reference_keeps(kind: contract.Kind) -> None:
    row = next(line for line in DOCUMENT.splitlines() if re.match(rf"\| `{kind.name}(/<level>)?` \|", line))
    _, _, _, retained, expiry, at_most, _ = (cell.strip() for cell in row.split("|"))

    assert retained == ("**yes**" if kind.retain else "no")
    assert expiry == {None: "none", 86_400: "24 h"}.get(kind.expiry_seconds, f"{kind.expiry_seconds} s")
    assert at_most == (f"{kind.max_bytes // 1024} KiB" if kind.max_bytes >= 1024 else f"{kind.max_bytes} B")
