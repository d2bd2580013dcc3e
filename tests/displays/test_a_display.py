"""A bare Debian becomes a display by one line, and everything that it then does: on systemd, journald and D-Bus.

The tests stand in the order of a display's life, on one machine; each can be run alone.
"""

from typing import Any

from tests.displays.conftest import Installed
from tests.stack import eventually


def test_the_one_line_makes_a_bare_debian_a_display_that_is_heard(display: Installed) -> None:
    client = eventually(lambda: running(display), "the display")

    assert client["status"] == "running"
    assert "heard" in display.said
    assert f"display   {display.uuid}" in display.status()
    assert "player    kiosk.service: it runs" in display.status()


def test_restart_app_is_proven_by_another_start_of_the_player(display: Installed) -> None:
    before = display.machine.shown("kiosk.service", "MainPID")

    done = display.command("restart_app")

    assert done["confirmed_by"] is not None
    assert display.machine.shown("kiosk.service", "MainPID") != before


def running(display: Installed) -> dict[str, Any] | None:
    """The display as the service has it, once its player runs."""
    now = display.client()
    return now if now["process_status"] == "running" else None
