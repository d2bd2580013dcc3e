"""What recovery does about an unhealthy client, and the words for it."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from shared.recovery import rules
from shared.recovery.rules import Condition, Verdict
from shared.vocabulary import Presence, ProcessStatus, RecoveryState

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
CRASHED = Condition(
    process_status=ProcessStatus.CRASHED,
    process_status_since=NOW - timedelta(minutes=2),
    last_heartbeat_at=NOW - timedelta(seconds=10),
    stale_after=timedelta(seconds=180),
    presence=Presence.ONLINE,
    presence_at=None,
    service_failed_unit=None,
    capabilities=None,
    lockout_until=None,
    open_action=None,
    open_until=None,
    unheard_at=None,
)


def ago(seconds: float) -> datetime:
    return NOW - timedelta(seconds=seconds)


def verdict(client: Condition, *, enabled: bool = True, bridge_silent: bool = False) -> Verdict:
    return rules.recovery_state(client, NOW, enabled=enabled, bridge_silent=bridge_silent)


CASES: list[tuple[dict[str, Any], RecoveryState, str]] = [
    ({}, RecoveryState.DUE, "crashed for two minutes, heard a moment ago"),
    ({"process_status_since": ago(20)}, RecoveryState.DUE, "20 s are enough"),
    ({"open_action": "restart_app"}, RecoveryState.IN_FLIGHT, "a command is open, whoever sent it"),
    ({"lockout_until": NOW + timedelta(seconds=1)}, RecoveryState.LOCKED, "a restart ran lately"),
    ({"lockout_until": NOW}, RecoveryState.DUE, "the lockout is over"),
    ({"capabilities": ["reboot_host"]}, RecoveryState.NOT_RECOVERED, "it cannot restart its player"),
    ({"capabilities": ["restart_app"]}, RecoveryState.DUE, "it can"),
    ({"unheard_at": ago(10)}, RecoveryState.UNREACHABLE, "nobody listened, and no heartbeat since"),
    ({"unheard_at": ago(11)}, RecoveryState.DUE, "a heartbeat since"),
    ({"presence": Presence.OFFLINE, "presence_at": ago(5)}, RecoveryState.UNREACHABLE, "gone after its heartbeat"),
    ({"presence": Presence.OFFLINE, "presence_at": ago(15)}, RecoveryState.DUE, "the heartbeat is the truth"),
    ({"last_heartbeat_at": ago(181)}, RecoveryState.NOT_RECOVERED, "silent: what it said is old"),
    ({"last_heartbeat_at": ago(180)}, RecoveryState.DUE, "at the threshold it still counts"),
    ({"last_heartbeat_at": None}, RecoveryState.NOT_RECOVERED, "never heard"),
    (
        {"last_heartbeat_at": ago(181), "presence": Presence.OFFLINE},
        RecoveryState.UNREACHABLE,
        "silent and not connected",
    ),
    (
        {"process_status": ProcessStatus.RUNNING, "service_failed_unit": "player.service"},
        RecoveryState.NOT_RECOVERED,
        "a failed service is left to a person",
    ),
]


@pytest.mark.parametrize(("facts", "state", "note"), CASES, ids=[note for _, _, note in CASES])
def test_the_state_follows_from_the_facts(facts: dict[str, Any], state: RecoveryState, note: str) -> None:
    answer = verdict(replace(CRASHED, **facts))

    assert answer.state is state
    assert answer.acts is (state is RecoveryState.DUE)
    assert answer.why.endswith(".")


def test_a_crash_of_a_moment_ago_is_left_to_the_displays_own_watchdog() -> None:
    answer = verdict(replace(CRASHED, process_status_since=ago(19)))

    assert (answer.state, answer.acts, answer.until) == (RecoveryState.DUE, False, NOW + timedelta(seconds=1))


def test_a_locked_client_says_until_when() -> None:
    until = NOW + timedelta(minutes=7)

    assert verdict(replace(CRASHED, lockout_until=until)).until == until


def test_switched_off_says_so_before_anything_else() -> None:
    answer = verdict(replace(CRASHED, open_action="restart_app"), enabled=False, bridge_silent=True)

    assert answer.state is RecoveryState.OFF
    assert "CRASH_RECOVERY_ENABLED" in answer.why


@pytest.mark.parametrize("facts", [{}, {"last_heartbeat_at": ago(600)}, {"lockout_until": NOW + timedelta(1)}])
def test_while_the_bridge_is_silent_nothing_is_done_to_anybody(facts: dict[str, Any]) -> None:
    answer = verdict(replace(CRASHED, **facts), bridge_silent=True)

    assert (answer.state, answer.acts) == (RecoveryState.BLOCKED_BRIDGE, False)


@pytest.mark.parametrize(
    ("status", "process_status", "failed_at", "unwell"),
    [
        ("running", "running", None, False),
        ("late", "running", None, False),
        ("stopped", "stopped", None, False),
        ("crashed", "crashed", None, True),
        ("unknown", "crashed", None, True),  # the bridge is silent; its last word was crashed
        ("stale", "running", None, True),
        ("running", "running", NOW, True),  # a service failed
    ],
)
def test_who_is_unwell(status: str, process_status: str, failed_at: datetime | None, unwell: bool) -> None:
    assert rules.is_unwell(status, process_status, failed_at) is unwell
