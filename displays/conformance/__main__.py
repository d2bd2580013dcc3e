"""Check one real client against docs/protocol.md. `python -m displays.conformance --uuid UUID`

Run it on the machine of the stack. Then let the client connect to the port that it prints instead of the broker's. It
forwards and checks all messages, sends the client a few messages that the client must survive, and cuts the client's
network twice for a moment. It takes about one heartbeat interval and ten seconds. Addresses and token come from
`stack.env` in LOCAL_STATE_DIR (.local), or from options. Only MQTT without TLS, as on the local stack.

    --commands   also send screenshot, screen_off, screen_on and opening hours to a client that declares them, and
                 restart_app: once by the service, and three that the client must refuse
    --reboot     also send reboot_host

Exit code: 0 when no rule failed, 1 when one did, 2 when the check could not run, 3 when no rule failed but the service
refused to send something: then that is not checked.
"""

import argparse
import asyncio
import os
import sys
from collections.abc import Mapping, Sequence
from urllib.parse import urlsplit

import requests

from deploy.parts.layout import layout_from, read_stack_env
from displays.conformance.checklist import failed, judge, printed
from displays.conformance.exercise import Exercise, NeverCame
from displays.conformance.service import Service
from displays.conformance.tap import Tap


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the check. Returns the exit code; see the module's docstring."""
    given = _options(_stack(os.environ)).parse_args(arguments)
    missing = [f"--{name.replace('_', '-')}" for name in ("mqtt_url", "api_url", "token") if not getattr(given, name)]
    if missing:
        print(f"{', '.join(missing)}: neither given nor in stack.env. Is the stack running?", file=sys.stderr)
        return 2
    try:
        return asyncio.run(check(given))
    except (NeverCame, OSError, requests.RequestException) as error:
        print(f"Nothing to judge: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 2


async def check(given: argparse.Namespace) -> int:
    """Exercise one client and print the checklist. Raises NeverCame, OSError, requests.RequestException."""
    parts = urlsplit(given.mqtt_url)
    if parts.scheme != "mqtt":
        raise NeverCame(f"{given.mqtt_url}: only mqtt:// is supported, as on the local stack")
    broker = (parts.hostname or "127.0.0.1", parts.port or 1883)
    async with Tap(given.uuid, given.topic_root, broker, given.listen) as tap:
        print(f"Let the client connect to 127.0.0.1:{tap.port} instead of {broker[0]}:{broker[1]}.", flush=True)
        exercise = Exercise(
            tap,
            Service(given.api_url, given.token),
            commands=given.commands,
            reboot=given.reboot,
            arrival_seconds=given.patience,
            tell=lambda text: print(f"... {text}", flush=True),
        )
        lines = judge(tap.record, await exercise.run())
    print("\n".join(printed(lines)))
    for what, why in exercise.tried.why_not.items():
        print(f"not checked: {what}: {why}", file=sys.stderr)
    return 1 if failed(lines) else 3 if exercise.tried.why_not else 0


def _options(stack: Mapping[str, str]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m displays.conformance",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--uuid", required=True, help="uuid of the enrolled client")
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
