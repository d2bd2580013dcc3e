"""A display that subscribes to its neighbour's commands: what Mosquitto lets it spoil, and what would prevent it.

It hears nothing (tests/local/test_broker_matrix.py), but the broker counts it as a subscriber: a command for a
neighbour that is away is answered Success instead of "no matching subscribers". docs/security.md says what that costs.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pytest

from deploy.local import broker as mosquitto
from deploy.local.broker_rights import DOWNWARD
from deploy.local.probes import free_port
from deploy.local.short_lived import running
from tests.local.mqtt_clients import NO_SUBSCRIBERS, ONE, OTHER, connected, publish, subscribe

PLUGIN: Final = next(iter(sorted(Path("/usr/lib").glob("*/mosquitto_dynamic_security.so"))), None)
COMMANDS: Final = f"signage/{OTHER}/commands"
# What an ACL file can say against it. Each is in force from the start.
RULES: Final = {
    "nothing": "{shipped}",
    "a topic denied to everybody": "topic deny signage/+/commands\n\n{shipped}",
    "a topic denied to this display": f"user {ONE}\ntopic deny {COMMANDS}\n\n{{shipped}}",
    "a pattern denied": "{shipped}pattern deny signage/+/commands\n",
}


@contextmanager
def broker(folder: Path, rules: str, plugin: dict[str, Any] | None = None) -> Iterator[mosquitto.Broker]:
    """The shipped broker with other rules, and with the dynamic-security plugin where it is told something."""
    place = mosquitto.Broker(folder / "run", folder / "data", free_port(), free_port(), shared=True)
    services = dict.fromkeys(mosquitto.SERVICES, "service")
    mosquitto.prepare(place, services)
    acl = folder / "run" / "all.acl"
    acl.write_text(rules.format(shipped=acl.read_text()))
    logins = mosquitto.password_lines({**services, ONE: "display", OTHER: "display"})
    place.displays_password_file.write_text(logins)
    if plugin is not None:
        said = folder / "run" / "plugin.json"
        said.write_text(json.dumps(plugin))
        line = f"plugin {PLUGIN}\nplugin_opt_config_file {said}\n"
        place.configuration.write_text(line + place.configuration.read_text())
    with running(mosquitto.command(place), mosquitto.answers(place), folder / "log", user=mosquitto.system_user()):
        yield place


def told_of_an_absent_neighbour(place: mosquitto.Broker, *subscriptions: str) -> int:
    """What the publisher of a command reads beside a display with these subscriptions; it must hear nothing."""
    with (
        connected(place.services_port, "api", "service", "api") as (api, told),
        connected(place.displays_port, ONE, "display") as (display, seen),
    ):
        for topic in subscriptions:
            subscribe(display, topic)
        code = publish(api, told, COMMANDS)
        if f"signage/{ONE}/commands" in subscriptions:
            assert publish(api, told, f"signage/{ONE}/commands") == 0
    assert COMMANDS not in [topic for topic, _ in seen.messages]
    return code


@pytest.mark.parametrize("rules", [pytest.param(text, id=what) for what, text in RULES.items()])
def test_no_rule_of_an_acl_file_keeps_a_display_from_spoiling_the_proof_of_absence(tmp_path: Path, rules: str) -> None:
    """A Mosquitto under which this fails is good news: take the rule over, and the note out of docs/security.md."""
    with broker(tmp_path, rules) as place:
        assert told_of_an_absent_neighbour(place) == NO_SUBSCRIBERS
        for spoiling in (COMMANDS, "signage/+/commands", "#"):
            assert told_of_an_absent_neighbour(place, spoiling) == 0


@pytest.mark.skipif(PLUGIN is None, reason="this mosquitto comes without its dynamic-security plugin")
def test_the_plugin_would_but_only_for_displays_that_it_knows_by_name(tmp_path: Path) -> None:
    own = f"signage/{ONE}/commands"
    allowed = [_rule("subscribeLiteral", f"signage/{ONE}/{topic}", allow=True) for topic in DOWNWARD]
    roles = [{"rolename": ONE, "acls": [*allowed, _rule("subscribePattern", "#", allow=False)]}]
    by_file = dict.fromkeys(("publishClientSend", "publishClientReceive", "subscribe"), False)
    plugin = {"defaultACLAccess": {**by_file, "unsubscribe": True}, "groups": [], "roles": roles}
    knows_it = [{"username": ONE, "roles": [{"rolename": ONE}]}]

    for folder, clients, code in (("known", knows_it, NO_SUBSCRIBERS), ("unknown", [], 0)):
        (tmp_path / folder).mkdir()
        with broker(tmp_path / folder, RULES["nothing"], {**plugin, "clients": clients}) as place:
            assert told_of_an_absent_neighbour(place, own, COMMANDS) == code


def _rule(kind: str, topic: str, *, allow: bool) -> dict[str, Any]:
    return {"acltype": kind, "topic": topic, "priority": 2 if allow else 1, "allow": allow}
