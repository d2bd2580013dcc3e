"""`signage-display`: the command on a display.

signage-display enrol URL CODE [--player UNIT] [--ca FILE]   exchange a code for this display's login, and start
signage-display player UNIT                                  name the unit that shows the playlist
signage-display status                                       show what it watches, and whether the service hears it
signage-display doctor                                       check everything that the agent needs
signage-display run                                          run the agent; systemd starts it
"""

import asyncio
import codecs
import importlib
import os
import signal
import sys
import time
import types
from collections.abc import Callable, Coroutine, Sequence
from typing import TYPE_CHECKING, Any

from displays.agent import status
from displays.agent.lock import AnotherAgent
from displays.agent.settings import BadSetting, Places, load
from displays.agent.user import as_agent
from displays.client.credentials import Credentials
from shared.structured_log import configure

if TYPE_CHECKING:
    import argparse

NOT_ENROLLED = "This display is not enrolled: signage-display enrol URL CODE"


def run(places: Places) -> int:
    """Run the agent until SIGTERM. Returns 0, or 2 when it cannot start."""
    if os.geteuid() == 0:
        print("The agent runs as its own user: systemctl restart signage-display", file=sys.stderr)
        return 2
    spare_memory()
    from displays.agent.agent import Agent  # noqa: PLC0415 - after paho's stand-in

    configure("signage-display")
    try:
        agent = Agent(places, load(places.configuration), Credentials.load(places.credentials))
        asyncio.run(_until_told(agent.run))
    except FileNotFoundError:
        print(NOT_ENROLLED, file=sys.stderr)
        return 2
    except (BadSetting, AnotherAgent, OSError, ValueError, TypeError) as error:
        print(f"signage-display: {error}", file=sys.stderr)
        return 2
    return 0


def spare_memory() -> None:
    """Keep two modules out of the process that hardly a display needs.

    paho imports `urllib.request` for proxies: 6 MB. The look-up of any host imports Python's tables for names beyond
    ASCII: 0.5 MB.
    """
    proxies, names = types.ModuleType("urllib.request"), types.ModuleType("encodings.idna")
    proxies.__dict__["getproxies"] = dict
    names.__dict__["getregentry"] = lambda: codecs.CodecInfo(_encoded, codecs.ascii_decode, name="idna")
    for one in (proxies, names):
        sys.modules.setdefault(one.__name__, one)


def _encoded(name: str, errors: str = "strict") -> tuple[bytes, int]:
    """A host's name; one beyond ASCII by Python's own module."""
    try:
        return codecs.ascii_encode(name, errors)
    except UnicodeEncodeError:
        sys.modules.pop("encodings.idna", None)
        return importlib.import_module("encodings.idna").Codec().encode(name, errors)  # type: ignore[no-any-return]


async def _until_told(live: Callable[[asyncio.Event], Coroutine[Any, Any, None]]) -> None:
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    await live(stop)


def show_status(places: Places) -> int:
    """Print the status. Returns 0 when the service hears the display, otherwise 1."""
    known = status.read(places.status)
    if known is None:
        print("The agent does not run: systemctl status signage-display" if _is_enrolled(places) else NOT_ENROLLED)
        return 1
    print("\n".join(status.words(known, time.monotonic())))
    return 0 if known["up"] and known["heard_at"] is not None else 1


def _is_enrolled(places: Places) -> bool:
    try:
        with as_agent():
            return places.credentials.exists()
    except PermissionError:  # the folder is the agent's own: there is one
        return True
    except OSError:
        return False


def main(given: Sequence[str]) -> int:
    """Run one of the commands. Returns the exit code."""
    if list(given) == ["run"]:
        return run(Places())
    import argparse  # noqa: PLC0415 - the agent's own process does not need it

    parser = argparse.ArgumentParser(
        prog="signage-display", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    enrol = commands.add_parser("enrol")
    enrol.add_argument("url")
    enrol.add_argument("code")
    enrol.add_argument("--player", default="", metavar="UNIT")
    enrol.add_argument("--ca", default="", metavar="FILE", help="the CA of a service whose CA is not a public one")
    commands.add_parser("player").add_argument("unit")
    for name in ("status", "doctor", "run"):
        commands.add_parser(name)
    arguments, places = parser.parse_args(given), Places()
    if arguments.command == "status":
        return show_status(places)
    return _rarely(arguments, places)


def _rarely(arguments: "argparse.Namespace", places: Places) -> int:
    """The commands that need HTTP and TLS; the agent's own process does not load these modules."""
    from displays.agent import doctor, enrolment  # noqa: PLC0415 - see above

    if arguments.command == "doctor":
        return doctor.examine(places)
    try:
        if arguments.command == "player":
            enrolment.name_player(places, arguments.unit)
        else:
            enrolment.enrol(places, arguments.url, arguments.code, arguments.player, arguments.ca)
    except (enrolment.NotEnrolled, BadSetting) as refusal:
        print(f"signage-display: {refusal}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
