"""Log lines about commands: one for each change, with the trace of its request, and no flood."""

import json
import logging
from datetime import datetime

import pytest
from sqlalchemy import Connection

from shared import trace
from shared.commands import operations
from shared.commands.acks import operations as acks
from shared.commands.acks.operations import STRANGE_TOLD
from shared.commands.news_operations import log_news
from shared.commands.rules import Ack, News
from shared.structured_log import JsonFormatter
from shared.vocabulary import CommandState
from tests.stores.commands_world import (
    NOWHERE,
    REBOOT,
    RESTART,
    TIMINGS,
    add_client,
    claim,
    command,
    issue,
    publish,
    request,
    say,
    seconds,
    see,
)

CLICK = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"


def told(news: tuple[News, ...]) -> list[tuple[str, str, str | None]]:
    return [(one.event, one.state, one.traceparent) for one in news]


def test_a_command_keeps_the_trace_of_whoever_asked_and_takes_it_to_the_display(
    connection: Connection, now: datetime, client: str
) -> None:
    name = issue(connection, now, client, traceparent=CLICK)
    [claimed] = claim(connection, now)

    assert command(connection, name)["traceparent"] == claimed.traceparent == CLICK
    assert json.loads(claimed.payload)["traceparent"] == CLICK


def test_a_command_that_nobody_clicked_for_has_a_trace_of_its_own(connection: Connection, now: datetime) -> None:
    fleet = [add_client(connection, now) for _ in range(3)]
    made = operations.issue_many(connection, now, [request(client) for client in fleet[:2]], TIMINGS)
    names = [row.id for row in made.values() if not isinstance(row, Exception)] + [issue(connection, now, fleet[2])]

    ids = {trace.trace_id(command(connection, name)["traceparent"]) for name in names}

    assert None not in ids
    assert len(ids) == 3


def test_each_answer_of_a_display_is_news_once_under_the_commands_own_trace(
    connection: Connection, now: datetime
) -> None:
    client = add_client(connection, now, boot=None, start=None)
    name = issue(connection, now, client, traceparent=CLICK)
    publish(connection, now, name, 0)
    forged = Ack(client, name, CommandState.RECEIVED, None, trace.begin())

    first = acks.record_acks(connection, now, [forged], TIMINGS)
    again = acks.record_acks(connection, now, [forged], TIMINGS)
    rest = say(connection, now, client, name, "running", "succeeded")

    assert told(first.news) == [("command_acked", "received", CLICK)]
    assert told(again.news) == []
    assert told(rest.news) == [("command_acked", "running", CLICK), ("command_acked", "succeeded", CLICK)]


def test_answers_to_nothing_are_told_by_the_displays_word_and_only_some_of_them(
    connection: Connection, now: datetime, client: str
) -> None:
    flood = [Ack(client, f"none-{n}", CommandState.RECEIVED, None, CLICK) for n in range(500)]

    report = acks.record_acks(connection, now, flood, TIMINGS)

    assert len(report.unknown) == 500
    assert told(report.news) == [("command_ack_unknown", "received", CLICK)] * STRANGE_TOLD


def test_what_a_boot_proves_and_what_time_ends_are_news(connection: Connection, now: datetime) -> None:
    rebooted, silent = add_client(connection, now), add_client(connection, now)
    reboot = issue(connection, now, rebooted, REBOOT, traceparent=CLICK)
    publish(connection, now, reboot, 0)
    publish(connection, now, issue(connection, now, silent, RESTART, traceparent=CLICK), 0)

    proven = see(connection, now + seconds(50), rebooted, "boot-2").news
    ended = operations.expire(connection, now + seconds(61)).news

    assert told(proven) == [("command_proven", "succeeded", CLICK)]
    assert told(ended) == [("command_ended", "expired", CLICK)]
    assert see(connection, now + seconds(62), rebooted, "boot-2").news == ()
    assert operations.expire(connection, now + seconds(62)).news == ()


def test_a_line_carries_the_id_to_search_for_and_a_hostile_reason_stays_a_value(
    caplog: pytest.LogCaptureFixture,
) -> None:
    hostile = 'no"\n{"event": "command_acked", "trace_id": "forged"}'
    with caplog.at_level(logging.INFO):
        log_news([News("command_acked", NOWHERE, NOWHERE, "failed", hostile, CLICK)])

    [line] = [JsonFormatter().format(record) for record in caplog.records]
    assert "\n" not in line
    fields = json.loads(line)
    assert fields["trace_id"] == "4bf92f3577b34da6a3ce929d0e0e4736"
    assert (fields["event"], fields["reason"], fields["command_id"]) == ("command_acked", hostile, NOWHERE)
