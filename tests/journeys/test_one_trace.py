"""One trace id leads from a click through the log of every service to the display and back."""

import secrets
import uuid
from pathlib import Path
from typing import Any, Final

from shared.trace import trace_id
from tests.stack import Api, Stack, enrol, eventually

STORED, GIVEN, ANSWERED = "a command is stored", "a command was given to the broker", "a display answered a command"
STEPS: Final = ("received", "running", "succeeded")


def lines_with(stack: Stack, what: str) -> list[tuple[str, str]]:
    """(service, message) of the log lines that contain `what`, in the order of the stack's output."""
    found = [line for line in stack.output.read_text(encoding="utf-8", errors="replace").splitlines() if what in line]
    return [(service.strip(), text.strip()) for service, _, text in (line.partition("│") for line in found)]


def is_told(stack: Stack, id_: str, service: str, *words: str) -> bool:
    return any(who == service and all(word in text for word in words) for who, text in lines_with(stack, id_))


def story(stack: Stack, id_: str) -> set[tuple[str, str]]:
    """(service, step) of a command in the log lines with this id."""
    expected = {
        ("api", f"{STORED} "),
        ("api", "request answered "),
        ("bridge", f"{GIVEN} "),
        *(("bridge", f'{ANSWERED} .*state="{step}"') for step in STEPS),
    }
    return {(who, words) for who, words in expected if is_told(stack, id_, who, *words.split(".*"))}


def succeeded(api: Api, command_id: str) -> dict[str, Any] | None:
    command: dict[str, Any] = api.get(f"/api/commands/{command_id}")
    return command if command["state"] == "succeeded" else None


def test_one_search_tells_the_story_of_a_command_from_the_click_to_the_answer(stack: Stack, folder: Path) -> None:
    api, identity = stack.api(), str(uuid.uuid4())
    clicked = f"00-{secrets.token_hex(16)}-{secrets.token_hex(8)}-01"
    display = enrol(api, identity, folder)
    command = api.post(
        f"/api/clients/{identity}/commands", {"action": "restart_app"}, 202, headers={"traceparent": clicked}
    )
    id_ = command["trace_id"]

    with display:  # it was off: the bridge publishes the waiting command
        display.heartbeat("running")
        done = eventually(lambda: succeeded(api, command["id"]), "the command's end")
        eventually(lambda: len(story(stack, id_)) == 6, f"six steps under {id_}: {lines_with(stack, id_)}")

    assert id_ == done["trace_id"] == trace_id(clicked)
    assert display.state.journal[command["id"]].traceparent == clicked
    assert is_told(stack, id_, "api", GIVEN, 'answer="0x10"')  # the display was not connected yet
    assert all(identity in text or "/commands" in text for _, text in lines_with(stack, id_))
    assert api.get(f"/api/clients/{identity}/commands")["items"][0]["trace_id"] == id_
