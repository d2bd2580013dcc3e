"""docs/protocol.md agrees with the messages of the reference client and with the bridge's contract."""

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import groupby
from operator import itemgetter
from typing import Any

import pytest
from msgspec import inspect

from bridge import contract as bridge
from bridge.contract import Document
from deploy.parts.layout import REPOSITORY
from displays.client import contract
from displays.client.hours import hours_of
from displays.client.state import Boot, DisplayState, Send
from shared.clients import hours_rules
from shared.clients.hours_rules import OpeningHours, OpenTime
from shared.commands import rules as commands_rules
from shared.commands.rules import DueCommand
from shared.vocabulary import CommandAction, Weekday

DOCUMENT = (REPOSITORY / "docs" / "protocol.md").read_text(encoding="utf-8")
STAMP = {"install_id", "boot_seq", "seq", "ts"}
NOW = datetime(2026, 3, 1, tzinfo=UTC)
HOURS = OpeningHours("Europe/Berlin", (OpenTime((Weekday.MONDAY,), "08:00", "24:00"),))
DUE = DueCommand("c1", "client-1", CommandAction.RESTART_APP, None, None, NOW, NOW, NOW, 1, None)


def example(marker: str) -> Any:
    """The first JSON block after `marker`."""
    after = DOCUMENT[DOCUMENT.index(marker) :]
    block = re.search(r"```json\n(.*?)```", after, re.DOTALL)
    assert block is not None
    return json.loads(block[1])


@pytest.fixture
def state() -> DisplayState:
    return DisplayState(
        Boot("installation-a", 1, "boot-1"), "app-1", capabilities=["restart_app", *contract.SCREEN_ACTIONS]
    )


def test_every_upward_example_has_the_fields_that_the_reference_sends(state: DisplayState) -> None:
    vitals: dict[str, Any] = dict.fromkeys(
        ("cpu_percent", "memory_percent", "disk_percent", "temperature_celsius", "certificate_ends_at", "under_voltage")
    )
    vitals |= dict.fromkeys(("app_version", "os", "ip", "hostname", "address", "title", "look_version"))
    vitals["glass"] = ["page", "5f0c91aa"]
    told = state.refuse(contract.Command("c1", "restart_app", None, None, 1), "expired", NOW)
    ack = next(effect.body for effect in told if isinstance(effect, Send))
    sent = {
        "**heartbeat**": state.heartbeat(NOW),
        "**health**": state.health(vitals, NOW),
        "**logs/": state.log("hello", "player", {}, NOW),
        "**service_failed**": state.service_failed("player.service", "exit-code", 1, NOW),
        "**acks**": ack,
    }

    for marker, body in sent.items():
        assert set(example(marker)) == set(body) - STAMP, marker
    assert set(example("## 3. The stamp")) == STAMP
    health = state.health(vitals, NOW)
    assert set(example("**health**")["recent_acks"][0]) == set(health["recent_acks"][0])
    assert set(example("**health**")["service_failed"]) == set(health["service_failed"])


def test_every_downward_example_is_understood() -> None:
    command = contract.parse_command(json.dumps(example("## 5. Commands")).encode())
    mark = contract.parse_logs_committed(json.dumps(example("## 7. The log spool")).encode())
    order = contract.parse_log_level(json.dumps(example("## 8. A temporary log level")).encode())

    hours = contract.parse_hours(json.dumps(example("### Opening hours")).encode())

    assert command.action == "restart_app"
    assert hours_of(hours.hours or {}).open[0].opens == 8 * 60
    assert mark.seq == 40
    assert order == contract.LogLevelOrder("debug", 900)


@pytest.mark.parametrize(
    "kind",
    [contract.HEARTBEAT, contract.HEALTH, contract.LOGS, contract.SERVICE_FAILED, contract.ACKS, contract.PRESENCE],
)
def test_the_table_of_topics_states_the_limits_that_the_reference_keeps(kind: contract.Kind) -> None:
    row = next(line for line in DOCUMENT.splitlines() if re.match(rf"\| `{kind.name}(/<level>)?` \|", line))
    _, _, _, retained, expiry, at_most, _ = (cell.strip() for cell in row.split("|"))

    assert retained == ("**yes**" if kind.retain else "no")
    assert expiry == {None: "none", 86_400: "24 h"}.get(kind.expiry_seconds, f"{kind.expiry_seconds} s")
    assert at_most == (f"{kind.max_bytes // 1024} KiB" if kind.max_bytes >= 1024 else f"{kind.max_bytes} B")


def test_the_table_of_what_comes_down_has_each_field_that_the_service_sends() -> None:
    rows = DOCUMENT.split("| topic, at most | field | holds |")[1].split("\n\n")[0].splitlines()[2:]
    named = [re.findall(r"`(\w+)`", row.split("|")[2]) for row in rows]
    hours = json.loads(hours_rules.message("a", hours_rules.document(HOURS)))
    sent = [
        *json.loads(commands_rules.payload(DUE)),
        *("install_id", "boot_seq", "seq", "level", "until"),
        *hours,
        *hours["hours"],
        *hours["hours"]["open"][0],
        *("version", "black"),  # of `look`, which no service sends yet
    ]

    assert [name for names in named for name in names] == sent
    for topic, most in contract.DOWNWARD_MAX_BYTES.items():
        at_most = f"{most // 1024} KiB" if most >= 1024 else f"{most} B"
        assert [row for row in rows if row.startswith(f"| `{topic}`, {at_most} |")], topic


MOMENT = {inspect.StrType, inspect.IntType, inspect.FloatType}
DOCUMENTS: dict[str, type[Document]] = {
    "heartbeat": bridge.HeartbeatDocument,
    "`last_command`, and each of `recent_acks`": bridge.CommandStateDocument,
    "health": bridge.HealthDocument,
    "each of `refused`": bridge.RefusedDocument,
    "`service_failed` of health": bridge.StandingFailureDocument,
    "`broker_connection`": bridge.BrokerConnectionDocument,
    "logs": bridge.LogDocument,
    "service_failed": bridge.ServiceFailedDocument,
    "acks": bridge.AckDocument,
    "presence": bridge.PresenceDocument,
}


def fields_of(document: type[Document]) -> dict[str, inspect.Field]:
    found = inspect.type_info(document)
    assert isinstance(found, inspect.StructType)
    return {field.name: field for field in found.fields}


def in_words(kind: Any) -> str:  # noqa: C901, PLR0911 - a line for each kind
    """The values of a field, in the words of the document's list."""
    match kind:
        case inspect.UnionType(types=types):
            told = [one for one in types if not isinstance(one, inspect.NoneType | inspect.CustomType)]
            return "time" if {type(one) for one in told} == MOMENT else " or ".join(map(in_words, told))
        case inspect.EnumType(cls=words):
            return ", ".join(f"`{word.value}`" for word in words)
        case inspect.LiteralType(values=values):
            return ", ".join(f"`{value}`" for value in sorted(map(str, values)))
        case inspect.StrType(min_length=least, max_length=most):
            return "text" + (f", {least or 0} to {most} characters" if most else "")
        case inspect.IntType(ge=least, le=most):
            return "whole number" + _limits(least, None if most == bridge.LONG else most)
        case inspect.FloatType(ge=least, le=most):
            return "number" + _limits(least, most)
        case inspect.ListType(item_type=item, max_length=most):
            return f"list of {in_words(item)}" + (f"; at most {most}" if most else "")
        case inspect.DictType() | inspect.StructType():
            return "object"
        case inspect.TupleType(item_types=items):
            return f"list of {len(items)}"
        case inspect.BoolType():
            return "`true`, `false`"
    raise AssertionError(kind)


def _limits(least: float | None, most: float | None) -> str:
    if least is None:
        return ""
    return f", from {least:,.0f}" if most is None else f", {least:,.0f} to {most:,.0f}"


def fields() -> Iterator[tuple[str, str, str]]:
    """(message, field, values in words) of each field that the bridge reads."""
    stamp = fields_of(bridge.StampedDocument)
    for name, field in stamp.items():
        yield "all but presence", name, in_words(field.type)
    yield "all", "v", "`1`"
    for message, document in DOCUMENTS.items():
        for name, field in fields_of(document).items():
            if name != "v" and name not in stamp:
                yield message, name, f"{in_words(field.type)}{'; required' if field.required else ''}"


def lines() -> Iterator[str]:
    """The list's lines: the fields of each message; adjacent fields with the same values share a line."""
    for message, told in groupby(fields(), key=itemgetter(0)):
        yield f"- {message}"
        for holds, group in groupby(told, key=itemgetter(2)):
            yield f"  - {', '.join(f'`{name}`' for _, name, _ in group)}: {holds}"


def test_the_list_of_fields_has_each_field_of_the_bridge_with_limits_and_words() -> None:
    after = DOCUMENT.split("**Every field**")[1].split("\n\n")[1]

    assert after.splitlines() == list(lines())


@pytest.mark.parametrize(
    ("marker", "document"),
    [
        ("**heartbeat**", bridge.HeartbeatDocument),
        ("**health**", bridge.HealthDocument),
        ("**logs/", bridge.LogDocument),
        ("**service_failed**", bridge.ServiceFailedDocument),
        ("**acks**", bridge.AckDocument),
        ("## 6. Presence", bridge.PresenceDocument),
    ],
)
def test_every_upward_example_has_every_field_that_the_bridge_reads(marker: str, document: type[Document]) -> None:
    assert set(example(marker)) == set(fields_of(document)) - STAMP - {"v", "truncated"}  # the text describes these two


@pytest.mark.parametrize("kind", ["heartbeat", "health", "logs", "service_failed", "acks", "presence"])
def test_the_bridge_takes_as_many_bytes_as_the_table_of_topics_says(kind: str) -> None:
    row = next(line for line in DOCUMENT.splitlines() if re.match(rf"\| `{kind}(/<level>)?` \|", line))
    at_most = row.split("|")[-2].strip()
    most = bridge.MAX_BYTES[kind]

    assert at_most == (f"{most // bridge.KIB} KiB" if most >= bridge.KIB else f"{most} B")


def test_the_example_of_an_ack_that_health_repeats_has_every_field_of_one() -> None:
    [repeated] = example("**health**")["recent_acks"]

    assert set(repeated) == set(fields_of(bridge.CommandStateDocument)) - {"ts"}  # a time is for people
    assert set(example("**heartbeat**")["last_command"]) <= set(repeated)
    assert set(example("**health**")["broker_connection"]) == set(fields_of(bridge.BrokerConnectionDocument))
    assert set(example("**health**")["service_failed"]) == set(fields_of(bridge.StandingFailureDocument))
