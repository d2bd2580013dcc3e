"""Check one real client against docs/protocol.md. `python -m displays.conformance --uuid UUID`

Run it on the machine of the stack. Then let the client connect to the port that it prints instead of the broker's. It
forwards and checks all messages, sends the client a few messages that the client must survive, and cuts the client's
network twice for a moment. It takes about one heartbeat interval and ten seconds. Addresses and token come from
`stack.env` in LOCAL_STATE_DIR (.local), or from options. The client connects to it without TLS.

    --commands   also send screenshot, screen_off, screen_on and opening hours to a client that declares them, and
                 restart_app: once by the service, and three that the client must refuse
    --reboot     also send reboot_host

    --login      the login of one display, as its enrolment answered it, for a service that you cannot look into. The
                 check itself then sends what the service would; the service hears of no command. A picture is not
                 asked for.

Exit code: 0 when each rule that was asked for passed, 1 when one failed, 2 when the check could not run, 3 when none
failed but one was not seen: then it is not checked.
"""

import argparse
import asyncio
import json
import os
import ssl
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import requests

from deploy.parts.layout import layout_from, read_stack_env
from displays.client.contract import SCREEN_ACTIONS
from displays.client.credentials import Credentials, trusting
from displays.conformance.checklist import failed, judge, printed, unseen
from displays.conformance.exercise import Exercise, NeverCame
from displays.conformance.service import Service
from displays.conformance.tap import Tap
from displays.conformance.verdict import Tried


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the check. Returns the exit code; see the module's docstring."""
    given = _options(_stack(os.environ)).parse_args(arguments)
    try:
        return asyncio.run(check(given, _where(given)))
    except (NeverCame, OSError, ValueError, TypeError, KeyError, requests.RequestException) as error:
        print(f"Nothing to judge: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 2


@dataclass(frozen=True)
class Where:
    """The client, its broker, and the service; None: the check has no token for it."""

    uuid: str
    topic_root: str
    broker: tuple[str, int]
    trust: ssl.SSLContext | None
    service: Service | None


def _where(given: argparse.Namespace) -> Where:
    """Raises NeverCame when an option is missing, OSError, ValueError, TypeError or KeyError for what is no login."""
    if given.login:
        body = json.loads(given.login.read_bytes())
        login = Credentials.from_enrolment(body) if "mqtt" in body else Credentials.load(given.login)
        trust = trusting(login.ca_pem) if login.tls else None
        return Where(login.uuid, login.topic_root, (login.host, login.port), trust, None)
    missing = [name for name in ("uuid", "mqtt_url", "api_url", "token") if not getattr(given, name)]
    if missing:
        named = ", ".join(f"--{name.replace('_', '-')}" for name in missing)
        raise NeverCame(f"{named}: neither given nor in stack.env. Is the stack running? Or give --login.")
    parts = urlsplit(given.mqtt_url)
    if parts.scheme != "mqtt":
        raise NeverCame(f"{given.mqtt_url}: only mqtt:// is supported, as on the local stack; or give --login")
    broker = (parts.hostname or "127.0.0.1", parts.port or 1883)
    return Where(given.uuid, given.topic_root, broker, None, Service(given.api_url, given.token))


async def check(given: argparse.Namespace, where: Where) -> int:
    """Exercise one client and print the checklist. Raises NeverCame, OSError, requests.RequestException."""
    broker = where.broker
    async with Tap(where.uuid, where.topic_root, broker, given.listen, where.trust) as tap:
        print(f"Let the client connect to 127.0.0.1:{tap.port} instead of {broker[0]}:{broker[1]}.", flush=True)
        exercise = Exercise(
            tap,
            where.service,
            commands=given.commands,
            reboot=given.reboot,
            arrival_seconds=given.patience,
            tell=lambda text: print(f"... {text}", flush=True),
        )
        lines = judge(tap.record, await exercise.run())
    print("\n".join(printed(lines)))
    for what, why in exercise.tried.why_not.items():
        print(f"not checked: {what}: {why}", file=sys.stderr)
    not_seen = unseen(lines, _fulfilled(given, where, exercise.tried))
    if not_seen:
        print(f"asked for, and not seen: {', '.join(not_seen)}", file=sys.stderr)
    return 1 if failed(lines) else 3 if not_seen or exercise.tried.why_not else 0


def _fulfilled(given: argparse.Namespace, where: Where, tried: Tried) -> set[str]:
    """What rules may need, as this run had it."""
    has = {
        "commands": given.commands,
        "reboot": given.reboot,
        "token": where.service is not None,
        "screen": len(tried.switches_screen) == len(SCREEN_ACTIONS),
    }
    return {word for word, holds in has.items() if holds}


def _options(stack: Mapping[str, str]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m displays.conformance",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--uuid", help="uuid of the enrolled client")
    parser.add_argument("--login", type=Path, metavar="FILE", help="a display's login, in place of uuid and token")
    parser.add_argument("--commands", action="store_true", help="also send commands, but no reboot")
    parser.add_argument("--reboot", action="store_true", help="also send reboot_host")
    parser.add_argument("--listen", type=int, default=0, metavar="PORT", help="port for the client")
    parser.add_argument("--patience", type=float, default=300.0, metavar="SECONDS", help="wait for the client")
    parser.add_argument("--mqtt-url", default=stack.get("SIGNAGE_MQTT_URL"), help="the displays' listener")
    parser.add_argument("--api-url", default=stack.get("SIGNAGE_API_URL"))
    parser.add_argument("--token", default=stack.get("SIGNAGE_ADMIN_TOKEN"), help="token of an admin")
    parser.add_argument("--topic-root", default=stack.get("MQTT_TOPIC_ROOT") or "signage")
    return parser


def _stack(environ: Mapping[str, str]) -> dict[str, str]:
    """The settings of stack.env; the environment wins."""
    return {**read_stack_env(layout_from(environ).stack_env), **environ}


if __name__ == "__main__":
    sys.exit(main())
