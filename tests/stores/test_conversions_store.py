"""Conversions on real Postgres: the moves, the lease, the fence, and the winner of each race."""

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy import Connection, Engine, RowMapping

from shared.conversions import operations, store
from shared.conversions.report_rules import Findings
from shared.conversions.rules import ConversionMove, Fault
from shared.errors import ConversionNotFound, NotConvertible
from shared.event_media import store as media_store
from shared.event_media.store import Medium
from shared.outside.media_volume import MediaVolume, converted_path, original_path
from shared.postgres.door import database_now, transaction
from shared.tables import conversions, event_media
from shared.vocabulary import ConversionStatus, MediaKind

LEASE = timedelta(seconds=240)
DEADLINE = timedelta(seconds=120)
HASH = "ab" * 32
PATH = converted_path(HASH)
VOLUME = MediaVolume(Path("/nonexistent/media"))  # an empty folder


@pytest.fixture
def now(connection: Connection) -> datetime:
    return database_now(connection)


def add_media(connection: Connection, sha256: str = HASH, kind: MediaKind = MediaKind.PPTX) -> Medium:
    """A medium with this content."""
    return media_store.insert(
        connection,
        filename="talk.pptx",
        kind=kind,
        bytes=7,
        sha256=sha256,
        path=original_path(sha256, kind),
        visible_slides=3,
        hidden_slides=0,
        uploaded_at=database_now(connection),
        uploaded_by="tests",
    )


def pdf_of(pages: int) -> Findings:
    """Findings of a PDF: only its number of pages."""
    return Findings(pages, 3, 0, None, None, has_thumbnail=False)


def pending(connection: Connection, now: datetime) -> int:
    """Request a conversion. Returns its id."""
    row, _ = operations.ensure_pdf(connection, now, add_media(connection))
    return row.id


def claimed(connection: Connection, now: datetime, conversion_id: int) -> operations.Job:
    job = operations.claim(connection, now, LEASE)
    assert job is not None
    assert job.conversion_id == conversion_id
    return job


def row_of(connection: Connection, conversion_id: int) -> RowMapping:
    return connection.execute(sa.select(conversions).where(conversions.c.id == conversion_id)).mappings().one()


def test_a_presentation_gets_one_conversion_that_must_be_enqueued_once(connection: Connection, now: datetime) -> None:
    media = add_media(connection)

    first, must_enqueue = operations.ensure_pdf(connection, now, media)
    second, again = operations.ensure_pdf(connection, now, media)

    assert (first.status, first.file_hash, first.generation, first.attempts) == ("pending", HASH, 1, 0)
    assert (must_enqueue, again) == (True, False)
    assert second.id == first.id


def test_other_media_are_not_converted(connection: Connection, now: datetime) -> None:
    picture = add_media(connection, kind=MediaKind.PNG)

    with pytest.raises(NotConvertible):
        operations.ensure_pdf(connection, now, picture)
    with pytest.raises(ConversionNotFound):
        operations.find(connection, picture.id)


def test_a_claim_says_what_to_convert_and_counts_the_try(connection: Connection, now: datetime) -> None:
    conversion_id = pending(connection, now)

    job = claimed(connection, now, conversion_id)

    assert (job.attempts, job.file_hash, job.path, job.kind) == (1, HASH, original_path(HASH, "pptx"), "pptx")
    row = row_of(connection, conversion_id)
    assert (row["status"], row["claim"], row["claimed_at"], row["started_at"]) == ("processing", job.token, now, now)


def test_a_claimed_conversion_is_free_again_only_when_its_lease_is_over(connection: Connection, now: datetime) -> None:
    conversion_id = pending(connection, now)
    first = claimed(connection, now, conversion_id)

    assert operations.claim(connection, now + LEASE, LEASE) is None
    second = claimed(connection, now + LEASE + timedelta(seconds=1), conversion_id)

    assert second.attempts == 2
    assert second.token != first.token


def test_after_another_worker_took_over_the_first_one_can_write_nothing(connection: Connection, now: datetime) -> None:
    conversion_id = pending(connection, now)
    first = claimed(connection, now, conversion_id)
    later = now + LEASE + timedelta(seconds=1)
    second = claimed(connection, later, conversion_id)

    assert not operations.finish(connection, later, VOLUME, first, PATH, pdf_of(3))
    assert operations.fail_or_release(connection, later, first, Fault.ENCRYPTED, DEADLINE) is None
    assert operations.fail_or_release(connection, later, first, Fault.QUEUE_FULL, DEADLINE) is None
    assert operations.finish(connection, later, VOLUME, second, PATH, pdf_of(3))
    assert not operations.finish(connection, later, VOLUME, second, PATH, pdf_of(3)), "and nobody finishes twice"


def test_a_finished_conversion_is_served_by_its_path_and_not_claimed_again(
    connection: Connection, now: datetime
) -> None:
    conversion_id = pending(connection, now)
    job = claimed(connection, now, conversion_id)
    assert store.ready_target(connection, PATH) is None

    assert operations.finish(connection, now, VOLUME, job, PATH, pdf_of(2))

    target = store.ready_target(connection, PATH)
    assert target is not None
    assert target.report is not None
    assert (target.file_hash, target.filename, target.pages) == (HASH, "talk.pptx", 2)
    told = {"code": "pages_differ", "slides": 3, "pages": 2}
    unread = {"code": "contents_not_known"}  # this test's volume has no original
    assert sorted(target.report["warnings"], key=str) == sorted([told, unread], key=str)
    assert operations.claim(connection, now + 10 * LEASE, LEASE) is None
    for other in ("", "../" + PATH, PATH.upper(), "a\0b", "%"):
        assert store.ready_target(connection, other) is None


def test_the_pdf_of_a_deleted_medium_is_not_served(connection: Connection, now: datetime) -> None:
    conversion_id = pending(connection, now)
    job = claimed(connection, now, conversion_id)
    operations.finish(connection, now, VOLUME, job, PATH, pdf_of(3))

    media_store.tombstone(connection, now, row_of(connection, conversion_id)["source_event_media_id"])

    assert store.ready_target(connection, PATH) is None
    assert store.list_page(connection, 10) == []


def test_a_permanent_fault_fails_the_conversion_and_a_request_renews_its_tries(
    connection: Connection, now: datetime
) -> None:
    conversion_id = pending(connection, now)
    job = claimed(connection, now, conversion_id)

    assert operations.fail_or_release(connection, now, job, Fault.ENCRYPTED, DEADLINE) is ConversionMove.FAIL
    failed = row_of(connection, conversion_id)
    media = media_store.get(connection, failed["source_event_media_id"])
    assert media is not None
    again, must_enqueue = operations.ensure_pdf(connection, now, media)

    assert (failed["status"], failed["error_code"], failed["finished_at"]) == ("failed", "encrypted", now)
    assert "password" in failed["error_message"]
    assert must_enqueue
    assert (again.id, again.status, again.attempts, again.generation) == (conversion_id, "pending", 0, 2)
    assert (again.error_code, again.error_message, again.finished_at) == (None, None, None)


def test_a_fault_that_was_nobodys_look_at_the_file_gives_the_try_back(connection: Connection, now: datetime) -> None:
    conversion_id = pending(connection, now)

    for _ in range(5):
        job = claimed(connection, now, conversion_id)
        assert job.attempts == 1
        assert (
            operations.fail_or_release(connection, now, job, Fault.CONVERTER_UNREACHABLE, DEADLINE)
            is ConversionMove.RELEASE
        )

    row = row_of(connection, conversion_id)
    assert (row["status"], row["attempts"], row["error_code"]) == ("pending", 0, "converter_unreachable")


def test_the_third_try_that_fails_is_the_last(connection: Connection, now: datetime) -> None:
    conversion_id = pending(connection, now)

    jobs = (claimed(connection, now, conversion_id) for _ in range(3))
    moves = [operations.fail_or_release(connection, now, job, Fault.CONVERTER_FAILED, DEADLINE) for job in jobs]

    assert moves == [ConversionMove.RELEASE, ConversionMove.RELEASE, ConversionMove.FAIL]


def test_the_sweep_finds_what_was_forgotten_and_gives_it_a_new_name_on_the_queue(
    connection: Connection, now: datetime
) -> None:
    abandoned, done, never_enqueued, fresh = (pending(connection, now) for _ in range(4))
    old = now - LEASE - timedelta(seconds=1)
    job = claimed(connection, old, abandoned), claimed(connection, old, done)
    operations.finish(connection, old, VOLUME, job[1], PATH, pdf_of(3))
    long_ago = {"enqueued_at": old, "created_at": old}
    connection.execute(sa.update(conversions).where(conversions.c.id != fresh).values(**long_ago))

    found = operations.sweep(connection, now, LEASE)

    assert sorted(found) == [(abandoned, 2), (never_enqueued, 2)]
    assert operations.sweep(connection, now, LEASE) == [], "what was just found is not found again"
    assert sorted(operations.sweep(connection, now + LEASE + timedelta(seconds=1), LEASE)) == [
        (abandoned, 3),
        (never_enqueued, 3),
        (fresh, 2),
    ]


def test_a_page_goes_on_where_the_last_one_ended(connection: Connection, now: datetime) -> None:
    ids = [pending(connection, now) for _ in range(5)]

    first = store.list_page(connection, 2)
    rest = store.list_page(connection, 10, before_id=first[-1].id)

    assert [row.id for row in (*first, *rest)] == ids[::-1]
    assert [row.id for row in store.list_page(connection, 10, status=ConversionStatus.READY)] == []


# Races: several connections work at the same time, each with its own committed transactions.


Act = Callable[[Connection, datetime], Any]


@pytest.fixture
def race(engine: Engine) -> Iterator[Callable[[Sequence[Act]], list[Any]]]:
    """Runs each act in its own thread and transaction, all at the same moment. Returns their results."""

    def run(acts: Sequence[Act]) -> list[Any]:
        gate = threading.Barrier(len(acts))

        def one(act: Act) -> Any:
            with transaction(engine) as connection:
                now = database_now(connection)
                gate.wait(60)
                return act(connection, now)

        with ThreadPoolExecutor(len(acts)) as pool:
            return list(pool.map(one, acts))

    yield run
    with transaction(engine) as connection:
        connection.execute(sa.delete(conversions))
        connection.execute(sa.delete(event_media))


Race = Callable[[Sequence[Act]], list[Any]]


def test_of_eight_workers_one_gets_the_conversion(engine: Engine, race: Race) -> None:
    with transaction(engine) as connection:
        pending(connection, database_now(connection))

    jobs = race([lambda connection, now: operations.claim(connection, now, LEASE)] * 8)

    assert len([job for job in jobs if job is not None]) == 1


def test_of_eight_uploaders_of_one_medium_one_enqueues(engine: Engine, race: Race) -> None:
    with transaction(engine) as connection:
        media = add_media(connection)

    answers = race([lambda connection, now: operations.ensure_pdf(connection, now, media)] * 8)

    assert [must_enqueue for _, must_enqueue in answers].count(True) == 1
    assert len({row.id for row, _ in answers}) == 1


def test_of_eight_sweeps_one_finds_each_forgotten_conversion(engine: Engine, race: Race) -> None:
    with transaction(engine) as connection:
        ids = [pending(connection, database_now(connection)) for _ in range(20)]
        connection.execute(sa.update(conversions).values(enqueued_at=database_now(connection) - 2 * LEASE))

    sweeps = race([lambda connection, now: operations.sweep(connection, now, LEASE)] * 8)

    found = sorted(pair for pairs in sweeps for pair in pairs)
    assert found == [(conversion_id, 2) for conversion_id in ids]


@pytest.mark.parametrize("round_number", range(10))
def test_when_a_lease_ends_while_its_worker_finishes_exactly_one_result_stands(
    engine: Engine, race: Race, round_number: int
) -> None:
    with transaction(engine) as connection:
        conversion_id = pending(connection, database_now(connection))
        job = claimed(connection, database_now(connection) - 2 * LEASE, conversion_id)

    finished, taken = race(
        [
            lambda connection, now: operations.finish(connection, now, VOLUME, job, PATH, pdf_of(3)),
            lambda connection, now: operations.claim(connection, now, LEASE),
        ]
    )

    with transaction(engine) as connection:
        status = row_of(connection, conversion_id)["status"]
    assert finished is (taken is None)
    assert status == ("ready" if finished else "processing")


def test_a_list_of_media_comes_with_the_newest_conversion_of_each(connection: Connection, now: datetime) -> None:
    deck, picture = add_media(connection), add_media(connection, kind=MediaKind.PNG)
    conversion, _ = operations.ensure_pdf(connection, now, deck)

    newest = store.latest_of_each(connection, [deck.id, picture.id])

    assert {media_id: row.id for media_id, row in newest.items()} == {deck.id: conversion.id}
    assert store.latest_of_each(connection, []) == {}
