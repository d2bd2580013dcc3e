"""When the agent knows what became of a command that was under way when it ended."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from displays.agent import settle
from displays.agent.unit_rules import UnitFacts


def settled(folder: Path, actions: set[str], states: Iterator[str]) -> list[str]:
    """What happened, in order, until it is known what became of these actions."""
    happened: list[str] = []

    async def helper(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        happened.append((await reader.readline()).decode().strip())
        writer.write(b"ok\n")
        writer.close()

    async def look() -> UnitFacts:
        happened.append(state := next(states))
        return UnitFacts("kiosk.service", "loaded", state)

    async def run() -> None:
        async with await asyncio.start_unix_server(helper, folder / "door"):
            await settle.until_known(actions, folder / "door", look)

    asyncio.run(run())
    return happened


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settle, "LOOK_SECONDS", 0.0)
    monkeypatch.setattr(settle, "GOING_DOWN_SECONDS", 0.0)


def test_the_helper_has_answered_and_the_player_stands_still_before_it_is_known(tmp_path: Path) -> None:
    states = iter(["deactivating", "activating", "active", "too late"])

    assert settled(tmp_path, {"restart_app"}, states) == ["ping", "deactivating", "activating", "active"]


def test_without_an_action_of_the_machine_there_is_nothing_to_wait_for(tmp_path: Path) -> None:
    assert settled(tmp_path, {"screenshot"}, iter([])) == []


def test_without_a_helper_the_player_alone_is_asked(tmp_path: Path) -> None:
    async def look() -> UnitFacts:
        return UnitFacts("kiosk.service", "loaded", "failed")

    asyncio.run(settle.until_known({"reboot_host"}, tmp_path / "nobody", look))
