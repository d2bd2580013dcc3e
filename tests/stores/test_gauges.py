"""The gauges: what each counts, that an index serves it, and that users' text never names a series."""

import json
import math
import re
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy import Connection, event

from shared import vocabulary
from shared.config import Config, load
from shared.conversions import operations as conversions
from shared.conversions import store as conversions_store
from shared.conversions.rules import Fault
from shared.leadership import store as leadership
from shared.overview import store as overview
from shared.overview.gauges import operations, rules
from shared.overview.gauges.rules import Gauge
from shared.tables import (
    client_commands,
    clients,
    dead_letters,
    login_failures,
    recovery_breakers,
    recovery_events,
)
from shared.vocabulary import COMMAND_RANKS, TERMINAL_RANK, CommandAction, CommandState
from tests.stores.commands_world import REBOOT, add_client, issue, publish, say, seconds
from tests.stores.test_conversions_store import LEASE, add_media, claimed

PICTURES = "screenshots_last_30m"
GROWING = (
    "client_commands",
    "recovery_events",
    "dead_letters",
    "notification_deliveries",
    "login_failures",
    "incidents",
)
"""Tables that grow with use, and not only with the fleet."""
WORDS = {word for name in vars(vocabulary).values() if isinstance(name, type) and name.__module__ == vocabulary.__name__
         for word in map(str, getattr(name, "__members__", {}).values())}  # fmt: skip
OURS = {
    "fleet",
    "site",
    "running",
    "over",
    "stored",
    "missing",
    rules.OTHER,
    *(reason for ends in operations.ENDS.values() for reason in ends),
}


@pytest.fixture
def config(tmp_path: Path) -> Config:
    return load({"DATABASE_URL": "postgresql://nobody@127.0.0.1:1/none", "MEDIA_ROOT": str(tmp_path)})


def measured(connection: Connection, now: datetime, config: Config) -> dict[str, Gauge]:
    return {gauge.name: gauge for gauge in operations.measure(connection, now, config)}


class Figures:
    """All gauges at one moment; `figures("clients", "stale")` is one number."""

    def __init__(self, connection: Connection, now: datetime, config: Config) -> None:
        self.gauges = measured(connection, now, config)

    def __call__(self, name: str, *labels: str) -> float:
        return dict(self.gauges[name].samples)[labels]


def test_every_gauge_is_told_in_a_service_in_which_nothing_ever_happened(
    connection: Connection, now: datetime, config: Config
) -> None:
    figures = Figures(connection, now, config)

    assert list(figures.gauges) == list(rules.MEANINGS)
    assert figures("tick_age_seconds") == figures("canary_age_seconds") == math.inf
    assert figures("listening") == figures("outbox_oldest_seconds") == figures("clients", "stale") == 0
    assert figures("media_volume_size_bytes") >= figures("media_volume_free_bytes") > 0


def test_a_volume_that_is_away_tells_nothing_and_takes_nothing_with_it(connection: Connection, now: datetime) -> None:
    away = load({"DATABASE_URL": "postgresql://nobody@127.0.0.1:1/none", "MEDIA_ROOT": "/nonexistent/media"})

    assert set(rules.MEANINGS) - set(measured(connection, now, away)) == {
        "media_volume_size_bytes",
        "media_volume_free_bytes",
    }


def test_clients_are_counted_by_shown_state_without_those_that_are_gone(
    connection: Connection, now: datetime, config: Config
) -> None:
    for facts in ({"status": "stale"}, {"status": "crashed"}, {"status": "stale", "deleted_at": now}):
        add_client(connection, now, **facts)
    add_client(connection, now, status="running", service_failed_at=now, service_failed_unit="player")

    figures = Figures(connection, now, config)

    assert [figures("clients", state) for state in ("stale", "crashed", "running")] == [1, 1, 1]
    assert figures("clients_service_failed") == 1


def test_what_waits_for_the_broker_grows_older_with_each_try(
    connection: Connection, now: datetime, client: str, config: Config
) -> None:
    name = issue(connection, now, client)
    publish(connection, now, name, None, left=False)
    publish(connection, now + seconds(20), name, None, left=False)

    figures = Figures(connection, now + seconds(25), config)
    assert figures("outbox_waiting") == 1
    assert figures("outbox_oldest_seconds") == figures("commands_oldest_seconds", "queued") == 25

    publish(connection, now + seconds(40), name, 0x10)
    figures = Figures(connection, now + seconds(41), config)
    assert figures("outbox_waiting") == figures("outbox_oldest_seconds") == 0  # the broker answered: not connected
    assert figures("commands_open", "queued") == 1


def test_a_lease_counts_while_it_runs(connection: Connection, now: datetime, client: str, config: Config) -> None:
    name = issue(connection, now, client)
    assert Figures(connection, now, config)("outbox_leases") == 0

    connection.execute(sa.update(client_commands).values(publish_lease_until=now + seconds(20)))

    assert name
    assert Figures(connection, now, config)("outbox_leases") == 1
    assert Figures(connection, now + seconds(21), config)("outbox_leases") == 0


def test_how_commands_ended_is_told_by_our_words_and_never_by_a_displays(
    connection: Connection, now: datetime, config: Config
) -> None:
    hostile = 'out of "memory"} 1\n# HELP'
    fleet = [add_client(connection, now, boot=None, start=None) for _ in range(4)]
    for client, words in zip(fleet, ([], ["succeeded"], ["failed"], ["rejected"]), strict=True):
        name = issue(connection, now, client)
        publish(connection, now, name, 0x87 if not words else 0)
        say(connection, now, client, name, *words, reason=hostile if words != ["succeeded"] else None)

    figures = Figures(connection, now + seconds(60), config)
    ended = "commands_ended_last_15m"
    assert figures(ended, "failed", "publish_denied") == figures(ended, "succeeded", "other") == 1
    assert figures(ended, "failed", "other") == figures(ended, "rejected", "other") == 1
    assert sum(count for _, count in figures.gauges[ended].samples) == 4
    assert Figures(connection, now + seconds(901), config)(ended, "failed", "other") == 0


def test_screenshots_that_a_display_took_are_counted_by_their_picture(
    connection: Connection, now: datetime, config: Config
) -> None:
    for state in CommandState:
        display = add_client(connection, now, capabilities=["screenshot"])
        name = issue(connection, now, display, CommandAction.SCREENSHOT)
        over = {"finished_at": now} if COMMAND_RANKS[state] == TERMINAL_RANK else {}
        one = client_commands.c.id == name
        connection.execute(sa.update(client_commands).where(one).values(state=state.value, **over))

    counted, later = (dict(measured(connection, at, config)[PICTURES].samples) for at in (now, now + rules.STORM))

    assert counted == {("stored",): 1, ("missing",): 2}
    assert later == {("stored",): 0, ("missing",): 0}


def test_what_recovery_sent_is_counted_for_half_an_hour(
    connection: Connection, now: datetime, client: str, config: Config
) -> None:
    name = issue(connection, now, client, REBOOT)
    decided = {"client_uuid": client, "decision": "reboot_host", "why": "silent", "evidence": {}}
    connection.execute(sa.insert(recovery_events).values(at=now, command_id=name, **decided))
    connection.execute(sa.insert(recovery_events).values(at=now, **{**decided, "decision": "locked"}))

    assert Figures(connection, now, config)("recovery_commands_last_30m", "reboot_host") == 1
    assert Figures(connection, now + seconds(1801), config)("recovery_commands_last_30m", "reboot_host") == 0


def test_a_conversion_is_as_old_as_the_last_wish_for_it(connection: Connection, now: datetime, config: Config) -> None:
    media = add_media(connection)
    row, _ = conversions.ensure_pdf(connection, now - seconds(9000), media)
    assert Figures(connection, now, config)("conversions_oldest_seconds", "pending") == 9000

    job = conversions.claim(connection, now - seconds(8000), LEASE)
    assert job is not None
    assert Figures(connection, now, config)("conversion_leases", "over") == 1
    conversions.fail_or_release(connection, now - seconds(7000), job, Fault.NO_SLIDES, seconds(120))
    assert Figures(connection, now, config)("conversions", "failed") == 1

    conversions.ensure_pdf(connection, now - seconds(30), media)
    assert Figures(connection, now, config)("conversions_oldest_seconds", "pending") == 30
    conversions_store.requeue_forgotten(connection, now, now, 10)  # a sweep is not a user's request
    assert Figures(connection, now, config)("conversions_oldest_seconds", "pending") == 30
    claimed(connection, now, row.id)
    assert Figures(connection, now, config)("conversion_leases", "running") == 1


def test_breakers_dead_letters_and_sign_ins_are_counted_while_they_are_news(
    connection: Connection, now: datetime, config: Config
) -> None:
    breakers = [{"site": site, "open_since": now} for site in ("", "Rome", "Oslo")]
    connection.execute(sa.insert(recovery_breakers), breakers)
    letter = {"payload": b"", "payload_bytes": 0, "sha256": "a", "reason": "bad_field"}
    for topic, at in (("signage/a/health", now), ("signage/b/health", now - seconds(901))):
        connection.execute(sa.insert(dead_letters).values(topic=topic, first_at=at, last_at=at, **letter))
    for bucket in ("account:anna address:198.18.0.1", "address:198.18.0.1", "account:anna"):
        connection.execute(sa.insert(login_failures).values(bucket=bucket, at=now))

    figures = Figures(connection, now, config)

    assert (figures("breakers_open", "fleet"), figures("breakers_open", "site")) == (1, 2)
    assert figures("dead_letters_last_15m", "bad_field") == figures("sign_in_failures_last_15m") == 1


def test_tick_and_canary_are_told_by_their_age(connection: Connection, now: datetime, config: Config) -> None:
    overview.record_tick(connection, now, 250, {"failed": ["retain"]})
    epoch = leadership.next_epoch(connection, "test")
    leadership.record_canary(connection, epoch, now)

    early, late = Figures(connection, now + seconds(45), config), Figures(connection, now + seconds(46), config)

    assert (early("tick_age_seconds"), early("tick_duration_seconds"), early("tick_failed_steps")) == (45, 0.25, 1)
    assert (early("listening"), late("listening"), late("canary_age_seconds")) == (1, 0, 46)


def test_no_series_is_named_by_anything_outside_and_their_number_is_fixed(
    connection: Connection, now: datetime, config: Config
) -> None:
    before = series(measured(connection, now, config))
    for number in range(20):
        client = add_client(connection, now, site=f"Rome {number}", tags=["menu"], name=f"display {number}")
        say(connection, now, client, issue(connection, now, client), "failed", reason=f"reason {number}")

    after = series(measured(connection, now, config))

    assert after == before
    assert len(after) < 150
    assert {value for _, values in after for value in values} <= WORDS | OURS
    assert not re.search(r"[0-9a-f]{8}-", str(after))


def series(gauges: dict[str, Gauge]) -> set[tuple[str, tuple[str, ...]]]:
    return {(name, labels) for name, gauge in gauges.items() for labels, _ in gauge.samples}


def test_nothing_that_grows_is_read_from_end_to_end_and_the_logs_are_not_read_at_all(
    connection: Connection, now: datetime, config: Config
) -> None:
    connection.exec_driver_sql("SET LOCAL enable_seqscan = off")  # a sequential scan is chosen only if no index serves
    scans = [scan for statement in asked(connection, now, config) for scan in plans(connection, *statement)]

    assert len(scans) >= 10
    assert not [table for _, table in scans if table.startswith("client_log")]
    assert [(kind, table) for kind, table in scans if kind == "Seq Scan" and table in GROWING] == []


def test_the_look_at_plans_sees_a_full_read(connection: Connection) -> None:
    connection.exec_driver_sql("SET LOCAL enable_seqscan = off")
    by_no_index = sa.select(sa.func.count()).where(client_commands.c.outcome_reason == "x")

    assert list(plans(connection, str(by_no_index.compile(compile_kwargs={"literal_binds": True})), ())) == [
        ("Seq Scan", "client_commands")
    ]
    assert clients.name not in GROWING  # the fleet is counted as the overview counts it


def asked(connection: Connection, now: datetime, config: Config) -> list[tuple[str, Any]]:
    """The statements of one measurement of all gauges."""
    sent: list[tuple[str, Any]] = []

    def remember(_connection: Any, _cursor: Any, statement: str, parameters: Any, *_: Any) -> None:
        sent.append((statement, parameters))

    event.listen(connection, "before_cursor_execute", remember)
    try:
        operations.measure(connection, now, config)
    finally:
        event.remove(connection, "before_cursor_execute", remember)
    return sent


def plans(connection: Connection, statement: str, parameters: Any) -> Iterator[tuple[str, str]]:
    """(kind of scan, table) for the scans in a statement's plan."""
    answer = connection.exec_driver_sql(f"EXPLAIN (FORMAT JSON) {statement}", parameters).scalar_one()
    nodes = [(json.loads(answer) if isinstance(answer, str) else answer)[0]["Plan"]]
    while nodes:
        node = nodes.pop()
        nodes += node.get("Plans", [])
        if "Relation Name" in node:
            yield node["Node Type"], node["Relation Name"]
