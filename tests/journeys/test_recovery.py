"""With CRASH_RECOVERY_ENABLED a crashed display is restarted, once per lockout, whatever dies meanwhile."""

import json
import os
import signal
import uuid
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import requests

from tests.stack import Api, Stack, enrol, eventually, running_stack

ON = {"TICK_SECONDS": "1", "CRASH_RECOVERY_ENABLED": "true"}


def commands_of(api: Api, identity: str) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = api.get(f"/api/clients/{identity}/commands")["items"]
    return items


def test_a_crashed_display_is_restarted_once_per_lockout_also_when_who_decides_is_killed(tmp_path: Path) -> None:
    identity = str(uuid.uuid4())
    with running_stack(tmp_path / "stack", **ON) as stack:
        api = stack.api()
        with enrol(api, identity, tmp_path / "display") as display:
            display.behave(restart_works=False)  # it crashes again at once
            display.heartbeat("crashed")
            seen = eventually(lambda: crashed(api, identity), "the crash in the list")
            assert seen["recovery"]["why"]

            command = restarted(api, identity, display.heartbeat)
            assert (command["action"], command["source"]) == ("restart_app", "recovery")
            eventually(lambda: commands_of(api, identity)[0]["finished_at"], "the command's end")

            # its answer says that it failed, its next heartbeat that the player is another one: whichever came first
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


def kill(stack: Stack, *services: str) -> datetime:
    """Kill -9; the runner starts them again. When it was."""
    lives = json.loads((stack.state / "run" / "status.json").read_text(encoding="utf-8"))
    for life in lives:
        if life["name"] in services:
            os.kill(life["pid"], signal.SIGKILL)
    return datetime.now(UTC)


def ticked_since(api: Api, moment: datetime, beat: Any) -> bool:
    """Whether recovery has looked at the display since, which goes on saying that it is crashed."""
    beat("crashed")
    headers = {"Authorization": f"Bearer {api.token}"}
    answer = requests.get(f"{api.url}/api/monitoring/overview", headers=headers, timeout=60)
    assert answer.status_code in {200, 503}, answer.text  # 503 while the database is away
    return answer.ok and datetime.fromisoformat(answer.json()["scheduler"]["last_tick_at"]) > moment


def crashed(api: Api, identity: str) -> dict[str, Any] | None:
    items = api.get("/api/clients/crashed")["items"]
    return next((row for row in items if row["uuid"] == identity), None)


def restarted(api: Api, identity: str, beat: Any) -> dict[str, Any]:
    """The command that recovery sends, while the display goes on saying that it is crashed."""

    def look() -> dict[str, Any] | None:
        beat("crashed")
        return next(iter(commands_of(api, identity)), None)

    return eventually(look, "recovery's command", 60)


def still_crashed(api: Api, identity: str, beat: Any, state: str) -> dict[str, Any] | None:
    """Recovery's view of it, once it is that."""
    beat("crashed")
    recovery: dict[str, Any] | None = api.get(f"/api/clients/{identity}")["recovery"]
    return recovery if recovery and recovery["state"] == state else None
