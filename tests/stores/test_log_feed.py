"""All displays' log lines for a reader that comes again and again: each once, whoever else writes."""

from datetime import UTC, datetime, timedelta

import pytest
from msgspec.structs import replace
from sqlalchemy import Connection, Engine, text

from shared.client_logs.feed_operations import AGAIN, FeedPlace, feed
from shared.postgres.door import transaction
from tests.stores.commands_world import new_client

NOW = datetime.now(UTC)


@pytest.fixture
def client(engine: Engine) -> str:
    return new_client(engine, site="Basel")


def say(connection: Connection, client: str, message: str, at: datetime = NOW) -> None:
    connection.execute(
        text(
            "INSERT INTO client_logs (client_uuid, level, message, received_at) VALUES (:uuid, 'info', :message, :at)"
        ),
        {"uuid": client, "message": message, "at": at},
    )


def read(engine: Engine, place: FeedPlace | None, limit: int = 1000) -> tuple[list[str], FeedPlace]:
    with transaction(engine) as connection:
        lines, place = feed(connection, place, limit)
    return [line.message for line in lines], place


def read_all(engine: Engine, place: FeedPlace, limit: int = 1000) -> tuple[list[str], FeedPlace]:
    """What three rounds read: a line that is stored before the first is read by the second at the latest."""
    found: list[str] = []
    for _ in range(3):
        said, place = read(engine, place, limit)
        found += said
    return found, place


@pytest.fixture
def place(engine: Engine) -> FeedPlace:
    return read(engine, None)[1]


def test_a_reader_begins_at_the_end_and_gets_each_line_once(engine: Engine, client: str, place: FeedPlace) -> None:
    with transaction(engine) as connection:
        for number in range(5):
            say(connection, client, f"line {number}")

    said, place = read_all(engine, place, limit=2)
    more, place = read_all(engine, place, limit=2)

    assert said + more == [f"line {number}" for number in range(5)]
    assert read_all(engine, place)[0] == []


def test_a_line_of_a_transaction_that_ends_late_is_not_left_out(engine: Engine, client: str, place: FeedPlace) -> None:
    with engine.connect() as late, late.begin():
        say(late, client, "drawn first")
        with transaction(engine) as connection:
            say(connection, client, "committed first")
        meanwhile, place = read_all(engine, place)
    afterwards, place = read_all(engine, place)

    assert meanwhile == []  # the other line would be behind the place
    assert afterwards == ["drawn first", "committed first"]
    assert read_all(engine, place)[0] == []


def test_after_a_restart_of_postgres_it_goes_on(engine: Engine, client: str, place: FeedPlace) -> None:
    with transaction(engine) as connection:
        say(connection, client, "before")
    said, place = read_all(engine, place)
    with transaction(engine) as connection:
        say(connection, client, "after")

    more, _ = read_all(engine, replace(place, life="another life"))

    assert (said, more) == (["before"], ["after"])


def test_after_postgres_forgot_lines_the_last_minutes_come_again(engine: Engine, client: str, place: FeedPlace) -> None:
    with transaction(engine) as connection:
        say(connection, client, "long ago", NOW - AGAIN * 2)
        say(connection, client, "lately", NOW - timedelta(minutes=1))
    _, place = read_all(engine, place)
    forgotten = replace(place, life="another life", after=place.after + 100, at=NOW)
    with transaction(engine) as connection:
        say(connection, client, "new")

    said, _ = read_all(engine, forgotten)

    assert said[-2:] == ["lately", "new"]
    assert "long ago" not in said


def test_a_place_before_all_time_reads_everything_again(engine: Engine, client: str, place: FeedPlace) -> None:
    with transaction(engine) as connection:
        say(connection, client, "new")
    made_up = replace(place, life="another life", at=datetime.min.replace(tzinfo=UTC))

    said, _ = read_all(engine, made_up)

    assert said[-1] == "new"
