"""With CRASH_RECOVERY_ENABLED a crashed display is restarted once per lockout, whichever services are killed."""

import json
import os
import signal
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import requests
import sqlalchemy as sa

from displays.simulated.display import Behaviour
from shared.clients.screens_rules import SURE_AFTER
from shared.postgres.door import engine_for, transaction
from shared.recovery.screens_rules import LOOK_AROUND
from tests.stack import Api, Stack, enrol, eventually, running_stack

ON = {"TICK_SECONDS": "2", "CRASH_RECOVERY_ENABLED": "true"}

BLACK_FOR_LONGER = """
    UPDATE clients SET screen_health_since = screen_health_since - CAST(:ago AS interval),
        screen_failed_at = screen_failed_at - CAST(:ago AS interval)
    WHERE uuid = :uuid
"""


@pytest.fixture(scope="module")
def stack(stack: Stack, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """A stack that recovers displays; it has no LibreOffice of its own."""
    settings = {**ON, "CONVERTER_URL": stack.environment["CONVERTER_URL"]}
    with running_stack(tmp_path_factory.mktemp("recovering"), **settings) as running:
        yield running


def commands_of(api: Api, identity: str) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = api.get(f"/api/clients/{identity}/commands")["items"]
    return items


def test_a_crashed_display_is_restarted_once_per_lockout_even_if_the_tick_is_killed(
    stack: Stack, tmp_path: Path
) -> None:
    identity = str(uuid.uuid4())
    api = stack.api()
    with enrol(api, identity, tmp_path / "display") as display:
        display.behave(restart_works=False)  # it crashes again at once
        display.heartbeat("crashed")
        seen = eventually(lambda: crashed(api, identity), "the crash in the list")
        assert seen["recovery"]["why"]

        command = restarted(api, identity, display.heartbeat)
        assert (command["action"], command["source"]) == ("restart_app", "recovery")
        eventually(lambda: commands_of(api, identity)[0]["finished_at"], "the command's end")

        # its ACK reports a failure, its next heartbeat a new player: either may come first
        state = {"failed": "locked", "succeeded": "verifying"}[commands_of(api, identity)[0]["state"]]
        waiting = eventually(lambda: still_crashed(api, identity, display.heartbeat, state), "the lockout")
        assert (waiting["until"] is not None, waiting["step"]) == (True, 1)
        assert len(commands_of(api, identity)) == 1
        told = api.get(f"/api/clients/{identity}/recovery")
        first = told["events"][-1]
        assert (first["decision"], first["command_id"]) == ("restart_app", command["id"])
        assert (told["tried"]["restarts"], told["tried"]["reboots"], told["breaker"]["open"]) == (1, 0, False)

        lockout_until = api.get(f"/api/clients/{identity}")["lockout_until"]
        killed_at = kill(stack, "postgres", "scheduler-tick")
        eventually(lambda: ticked_since(api, killed_at, display.heartbeat), "a tick of the next lives", 300)
        assert [c["id"] for c in commands_of(api, identity)] == [command["id"]]
        assert api.get(f"/api/clients/{identity}")["lockout_until"] == lockout_until is not None
    api.call("DELETE", f"/api/clients/{identity}", 204)  # a second silent display would stop recovery in this fleet


def test_a_black_screen_is_said_repaired_and_proven_by_its_next_reports(stack: Stack, tmp_path: Path) -> None:
    identity = str(uuid.uuid4())
    api = stack.api()
    with enrol(api, identity, tmp_path / "display", Behaviour(interval_seconds=5, health_every=1)) as display:
        eventually(lambda: client(api, identity)["screen_health"] == "ok", "a picture")
        display.call(partial(setattr, display.display, "screen", "black"))
        eventually(lambda: client(api, identity)["screen_health"] == "black", "its first report")
        let_the_screen_be_black_for_longer(stack, identity, SURE_AFTER)

        dark = eventually(lambda: one_of_the_dark(api, identity), "the failure")
        assert (dark["screen_health"], dark["status"]) == ("black", "running")
        assert dark["recovery"]["why"].startswith("The screen is black and the display is heard; recovery waits")
        assert api.get("/api/monitoring/overview")["counts"]["screen_failed"] == 1
        let_the_screen_be_black_for_longer(stack, identity, LOOK_AROUND)
        command = eventually(lambda: next(iter(commands_of(api, identity)), None), "recovery's command", 150)
        assert (command["action"], command["source"]) == ("restart_app", "recovery")
        assert command["reason"] == "The screen is black and the display is heard: a restart, attempt 1 of 4."

        eventually(lambda: client(api, identity)["screen_failed_since"] is None, "a picture again")
        assert client(api, identity)["screen_health"] == "ok"
        assert len(commands_of(api, identity)) == 1


def let_the_screen_be_black_for_longer(stack: Stack, identity: str, ago: timedelta) -> None:
    """Let time pass since its first report; a failure that were older than its first report would be over."""
    engine = engine_for(stack.environment["DATABASE_URL"], "tests", pool_size=1)
    try:
        with transaction(engine) as connection:
            connection.execute(sa.text(BLACK_FOR_LONGER), {"ago": ago, "uuid": identity})
    finally:
        engine.dispose()


def one_of_the_dark(api: Api, identity: str) -> dict[str, Any] | None:
    items = api.get("/api/clients", params={"screen_failed": "true"})["items"]
    return next((row for row in items if row["uuid"] == identity), None)


def client(api: Api, identity: str) -> dict[str, Any]:
    found: dict[str, Any] = api.get(f"/api/clients/{identity}")
    return found


def kill(stack: Stack, *services: str) -> datetime:
    """Kill -9 these services; the runner restarts them. Returns the time."""
    lives = json.loads((stack.state / "run" / "status.json").read_text(encoding="utf-8"))
    for life in lives:
        if life["name"] in services:
            os.kill(life["pid"], signal.SIGKILL)
    return datetime.now(UTC)


def ticked_since(api: Api, moment: datetime, beat: Any) -> bool:
    """Whether recovery has examined the display since `moment`, while it still reports a crash."""
    beat("crashed")
    headers = {"Authorization": f"Bearer {api.token}"}
    answer = requests.get(f"{api.url}/api/monitoring/overview", headers=headers, timeout=60)
    assert answer.status_code in {200, 503}, answer.text  # 503 while the database is away
    return answer.ok and datetime.fromisoformat(answer.json()["scheduler"]["last_tick_at"]) > moment


def crashed(api: Api, identity: str) -> dict[str, Any] | None:
    items = api.get("/api/clients/crashed")["items"]
    return next((row for row in items if row["uuid"] == identity), None)


def restarted(api: Api, identity: str, beat: Any) -> dict[str, Any]:
    """Wait for the command of recovery, while the display still reports a crash."""

    def look() -> dict[str, Any] | None:
        beat("crashed")
        return next(iter(commands_of(api, identity)), None)

    return eventually(look, "recovery's command", 60)


def still_crashed(api: Api, identity: str, beat: Any, state: str) -> dict[str, Any] | None:
    """Recovery's view of the display, once it has this state; None before."""
    beat("crashed")
    recovery: dict[str, Any] | None = api.get(f"/api/clients/{identity}")["recovery"]
    return recovery if recovery and recovery["state"] == state else None
