"""With CRASH_RECOVERY_ENABLED a crashed display is restarted, once per lockout; and a stack keeps its data."""

import uuid
from pathlib import Path
from typing import Any

from tests.stack import Api, enrol, eventually, running_stack

ON = {"TICK_SECONDS": "1", "CRASH_RECOVERY_ENABLED": "true"}


def commands_of(api: Api, identity: str) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = api.get(f"/api/clients/{identity}/commands")["items"]
    return items


def test_a_crashed_display_is_restarted_once_per_lockout_and_all_is_kept_over_a_restart(tmp_path: Path) -> None:
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

    with running_stack(tmp_path / "stack", **ON) as stack:
        kept = stack.api()
        assert [c["id"] for c in commands_of(kept, identity)] == [command["id"]]
        assert kept.get(f"/api/clients/{identity}")["lockout_until"] is not None


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
