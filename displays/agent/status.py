"""`signage-display status`: the agent writes its state to a file in memory, and the command prints it in words."""

import contextlib
import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from displays.agent.journald_rules import READ_LINES
from displays.agent.user import as_agent
from displays.client import durable

STALE_SECONDS = 120.0


def write(path: Path, known: Mapping[str, Any]) -> None:
    """Replace the file at once, so that a reader sees the old text or the new one. `/run` is memory, not a disk."""
    draft = path.with_suffix(".new")
    with contextlib.suppress(OSError):
        draft.write_text(json.dumps({**known, "at": time.monotonic()}), encoding="utf-8")
        draft.chmod(0o644)
        draft.replace(path)


def read(path: Path) -> dict[str, Any] | None:
    """The state that the agent wrote last; None if the agent does not run, or wrote nothing for two minutes."""
    try:
        with as_agent():
            known = json.loads(durable.read_file(path))
        fresh = 0 <= time.monotonic() - known["at"] <= STALE_SECONDS
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None
    return known if fresh else None


def words(known: Mapping[str, Any], now: float) -> list[str]:
    """The status in words, one line for each topic. `now` is in monotonic seconds."""
    lines = [f"display   {known['uuid']}", f"service   {_connection(known, now)}"]
    lines += [f"player    {known['player']}: {known['units'].get(known['player'], '')}"]
    if not known["has_player"]:
        lines[-1] = "player    none is named: the machine itself is watched (signage-display player UNIT)"
    lines += [f"unit      {name}: {said}" for name, said in known["units"].items() if name != known["player"]]
    lines.append(f"state     {known['process_status']}")
    why = f" ({known['screen_trouble']})" if known["screen_trouble"] else ""
    lines.append(f"screen    {known['screen']}{why}")
    lines.append(f"plan      {known['screen_plan']}")
    lines.append(f"commands  {_commands(known)}")
    lines.append(f"logs      {known['logs_trouble'] or _waiting(known['logs_waiting'])}")
    lines += [f"trouble   {meaning}" for meaning in known["troubles"].values()]
    return [shown(line) for line in lines]


def shown(text: str) -> str:
    """Replace characters with which another program's text could begin a line or control the terminal."""
    return "".join(character if character.isprintable() else "\ufffd" for character in text)


def _connection(known: Mapping[str, Any], now: float) -> str:
    broker, heard = known["broker"], known["heard_at"]
    if not known["up"]:
        return f"not connected to {broker}: {known['why'] or 'connecting'}"
    if heard is None:
        return f"connected to {broker}; nobody has taken a heartbeat yet"
    return f"connected to {broker}; heard {max(0, round(now - heard))} s ago"


def _waiting(lines: int) -> str:
    """How many lines wait. From `READ_LINES` on journald may have more."""
    return f"{'at least ' if lines >= READ_LINES else ''}{lines} wait for the service"


def _commands(known: Mapping[str, Any]) -> str:
    able = ", ".join(known["capabilities"]) or "none can be carried out"
    last = known["last_command"]
    reason = f" ({last['reason']})" if last and last["reason"] else ""
    return able + (f"; the last one, {last['action']}, {last['state']}{reason}" if last else "")
