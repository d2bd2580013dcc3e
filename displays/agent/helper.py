"""The only program of the agent that runs as root: it carries out a few verbs for the agent's user, and ends when idle.

A request is one line, and so is the answer: `restart kiosk.service` -> `ok`, or `refused: ...`, or `failed: ...`.
systemd owns the socket and starts this program at the first request. The unit that may be restarted is read from root's
own configuration at each request. No text of a request is ever part of a shell command.
"""

import contextlib
import os
import pwd
import select
import socket
import struct
import subprocess
import sys
from collections.abc import Callable, Mapping
from functools import partial
from typing import Final

from displays.agent import screen_rules
from displays.agent.connectors import outputs
from displays.agent.settings import BadSetting, Places, Settings, load
from displays.agent.user import account

IDLE_SECONDS: Final = 60.0
LINE_BYTES: Final = 512
ASK_SECONDS: Final = 5.0  # for the whole line to arrive
ACT_SECONDS: Final = 90.0
FIRST_DESCRIPTOR: Final = 3  # the first descriptor of the sockets that systemd passes

NETWORKS: Final = ("NetworkManager.service", "systemd-networkd.service", "dhcpcd.service", "networking.service")
Run = Callable[..., "subprocess.CompletedProcess[str]"]


class Refused(Exception):
    """The request is refused; the message says why."""


class NotAllowed(Refused):
    """Nobody may ask that, or this user may not ask."""


def restart(unit: str, player: str) -> tuple[str, ...]:
    """The command that restarts the player. Raises NotAllowed for every other unit."""
    if unit != player:
        raise NotAllowed(f"{unit} is not the player's unit ({player})")
    if not unit.endswith(".service"):
        raise Refused(f"{unit} is not a service")
    return ("systemctl", "restart", unit)


def restart_network(active: Callable[[str], bool]) -> tuple[str, ...]:
    """The command that restarts the network's service. Raises Refused when no known service runs."""
    running = next((unit for unit in NETWORKS if active(unit)), None)
    if running is None:
        raise Refused("no known service runs the network here")
    return ("systemctl", "restart", running)


def _no_screen(_word: str) -> tuple[str, ...]:
    raise Refused("no means to switch the screen is named")


def command_for(
    line: str, player: str, active: Callable[[str], bool], screen: Callable[[str], tuple[str, ...]] = _no_screen
) -> tuple[str, ...]:
    """The command of a request. Raises Refused."""
    verb, *words = line.split() or [""]
    if verb == "screen" and len(words) == 1:
        return screen(words[0])
    if verb == "restart" and len(words) == 1:
        return restart(words[0], player)
    fixed: Mapping[str, tuple[str, ...]] = {
        "ping": ("true",),
        "reboot": ("systemctl", "reboot"),
        "power-off": ("systemctl", "poweroff"),
    }
    if verb in fixed and not words:
        return fixed[verb]
    if verb == "restart-network" and not words:
        return restart_network(active)
    raise NotAllowed(f"there is no verb {line[:60]!r}")


def answer(line: str, places: Places, run: Run = subprocess.run) -> str:
    """Carry out one request. Returns the answer's line. Raises NotAllowed."""

    def active(unit: str) -> bool:
        return run(("systemctl", "--quiet", "is-active", unit), check=False).returncode == 0

    try:
        settings = load(places.configuration)
        command = command_for(line, settings.player, active, partial(_screen_command, places, settings, run))
        done = run(command, check=False, capture_output=True, text=True, timeout=ACT_SECONDS)
    except NotAllowed:
        raise
    except (Refused, BadSetting) as refusal:
        return f"refused: {refusal}"
    except (OSError, subprocess.SubprocessError) as error:
        return f"failed: {' '.join(str(error).split())}"
    if line.split() == ["screen", screen_rules.STATE]:
        return screen_rules.power_of(done.stdout)
    said = " ".join(done.stderr.split())
    return "ok" if done.returncode == 0 else f"failed: {said[:200] or done.returncode}"


def _screen_command(places: Places, settings: Settings, run: Run, word: str) -> tuple[str, ...]:
    """The command that switches the screen, as the player's user. Raises Refused."""

    def shown(what: str) -> str:
        asked = ("systemctl", "show", f"--property={what}", "--value", settings.player)
        return run(asked, check=False, capture_output=True, text=True, timeout=ACT_SECONDS).stdout.strip()

    try:
        user = pwd.getpwnam(shown("User") or "root")
        player = screen_rules.PlayerUnit(user.pw_name, user.pw_uid, screen_rules.environment_of(shown("Environment")))
        return screen_rules.command(settings.screen, word, player, outputs(places.root))
    except (screen_rules.NoMeans, KeyError) as error:
        raise Refused(str(error)) from None


def user_of(asker: socket.socket) -> int:
    """The user id of the peer, from the kernel."""
    credentials = asker.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    return int(struct.unpack("3i", credentials)[1])


def check_user(user: int, allowed: frozenset[int]) -> None:
    """Raises NotAllowed."""
    if user not in allowed:
        raise NotAllowed(f"user {user} may not ask")


def serve_one(asker: socket.socket, allowed: frozenset[int], places: Places) -> str:
    """Answer one request. Returns a line for the log."""
    user = user_of(asker)
    asker.settimeout(ASK_SECONDS)
    try:
        line = asker.makefile("rb").readline(LINE_BYTES).decode("ascii", "replace").strip()
        said = _answer_to(user, line, allowed, places)
        asker.sendall(said.encode("ascii", "replace") + b"\n")
    except OSError as error:
        return f"an asker of user {user} went away: {error}"
    return f"user {user} asked {line[:80]!r}: {said}"


def _answer_to(user: int, line: str, allowed: frozenset[int], places: Places) -> str:
    try:
        check_user(user, allowed)
        return answer(line, places)
    except NotAllowed as refusal:
        with contextlib.suppress(OSError):
            places.refusal.write_text(f"{refusal} (user {user}, {line[:60]!r})\n", encoding="utf-8")
        return f"refused: {refusal}"


def serve(door: socket.socket, allowed: frozenset[int], places: Places, idle_seconds: float) -> None:
    """Answer requests until none has come for `idle_seconds`."""
    while select.select([door], [], [], idle_seconds)[0]:
        asker, _ = door.accept()
        with asker:
            print(serve_one(asker, allowed, places), file=sys.stderr, flush=True)


def main() -> int:
    """Serve the socket that systemd passed. Returns 0, or 2 when there is none."""
    if os.environ.get("LISTEN_FDS") != "1":
        print("systemd starts this program, by signage-display-helper.socket.", file=sys.stderr)
        return 2
    allowed = frozenset({0, account().pw_uid})
    with socket.socket(fileno=FIRST_DESCRIPTOR) as door:
        serve(door, allowed, Places(), IDLE_SECONDS)
    return 0


if __name__ == "__main__":
    sys.exit(main())
