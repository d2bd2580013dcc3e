"""Hold one real client against docs/protocol.md. `python -m deploy.displays.conformance --uuid UUID`

Run it where the stack runs, then let the client connect to the port that it names instead of the broker's: it passes
everything on, looks at it, gives the client a few messages that it must survive, and takes its network away twice for
a moment. About one heartbeat interval and ten seconds. Addresses and token come from `stack.env` in LOCAL_STATE_DIR
(.local), or from options. Only MQTT without TLS, as the local stack speaks it.

    --commands   also send restart_app (once, by the service), and three that must be refused
    --reboot     also send reboot_host

Exit code: 0 when nothing failed, 1 when something did, 2 when there was nothing to look at.
"""

import argparse
import asyncio
import os
import sys
from collections.abc import Mapping, Sequence
from urllib.parse import urlsplit

import requests

from deploy.displays.conformance.checklist import failed, judge, printed
from deploy.displays.conformance.exercise import Api, Exercise, NeverCame
from deploy.displays.conformance.tap import Tap
from deploy.parts.layout import layout_from, read_stack_env


def main(arguments: Sequence[str] | None = None) -> int:
    """The exit code; see the module's docstring."""
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
        raise NeverCame(f"{given.mqtt_url} is not spoken here: only mqtt://, as on the local stack")
    broker = (parts.hostname or "127.0.0.1", parts.port or 1883)
    async with Tap(given.uuid, given.topic_root, broker, given.listen) as tap:
        print(f"Let the client connect to 127.0.0.1:{tap.port} instead of {broker[0]}:{broker[1]}.", flush=True)
        exercise = Exercise(
            tap,
            Api(given.api_url, given.token),
            commands=given.commands,
            reboot=given.reboot,
            arrival_seconds=given.patience,
            tell=lambda text: print(f"... {text}", flush=True),
        )
        lines = judge(tap.record, await exercise.run())
    print("\n".join(printed(lines)))
    return 1 if failed(lines) else 0


def _options(stack: Mapping[str, str]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m deploy.displays.conformance",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--uuid", required=True, help="of the client, which is enrolled")
    parser.add_argument("--commands", action="store_true", help="also send restart_app")
    parser.add_argument("--reboot", action="store_true", help="also send reboot_host")
    parser.add_argument("--listen", type=int, default=0, metavar="PORT", help="where the client is to connect")
    parser.add_argument("--patience", type=float, default=300.0, metavar="SECONDS", help="until it has connected")
    parser.add_argument("--mqtt-url", default=stack.get("SIGNAGE_MQTT_URL"), help="the displays' listener")
    parser.add_argument("--api-url", default=stack.get("SIGNAGE_API_URL"))
    parser.add_argument("--token", default=stack.get("SIGNAGE_ADMIN_TOKEN"), help="an admin's")
    parser.add_argument("--topic-root", default=stack.get("MQTT_TOPIC_ROOT") or "signage")
    return parser


def _stack(environ: Mapping[str, str]) -> dict[str, str]:
    """What stack.env says, and above it the environment."""
    return {**read_stack_env(layout_from(environ).stack_env), **environ}


if __name__ == "__main__":
    sys.exit(main())
