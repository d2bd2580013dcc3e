"""The queue of conversions on real Postgres: uploaders take turns, and nobody waits for all decks of somebody else."""

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta

import pytest
import sqlalchemy as sa
from sqlalchemy import Connection, Engine

from shared.conversions import operations, store
from shared.conversions.operations import Job
from shared.conversions.rules import Fault
from shared.event_media import store as media_store
from shared.outside.media_volume import original_path
from shared.postgres.door import database_now, transaction
from shared.tables import conversions, event_media
from shared.vocabulary import MediaKind
from tests.stores.query_plans import plan_of, rows_read

LEASE = timedelta(seconds=240)
DEADLINE = timedelta(seconds=120)
SIXTY = 60


def upload(connection: Connection, uploader: str, content: str = "ab" * 32) -> int:
    """Upload a presentation. Returns the id of its conversion."""
    now = database_now(connection)
    media = media_store.insert(
        connection,
        filename="talk.pptx",
        kind=MediaKind.PPTX,
        bytes=7,
        sha256=content,
        path=original_path(content, MediaKind.PPTX),
        visible_slides=3,
        hidden_slides=0,
        uploaded_at=now,
        uploaded_by=uploader,
    )
    return operations.ensure_pdf(connection, now, media)[0].id


def claim(connection: Connection, now: datetime) -> Job:
    job = operations.claim(connection, now, LEASE)
    assert job is not None
    return job


def finish(connection: Connection, now: datetime, job: Job) -> None:
    assert store.finish(connection, now, job.conversion_id, job.token, "ab.pdf", 1, {})


def end_of_queue(connection: Connection, now: datetime) -> list[int]:
    """Convert everything that waits. Returns the ids in the order of their turns."""
    order = []
    while (job := operations.claim(connection, now, LEASE)) is not None:
        order.append(job.conversion_id)
        finish(connection, now, job)
    return order


@pytest.mark.parametrize("workers", [0, 1, 2])
def test_after_sixty_decks_of_one_person_anothers_deck_is_second_at_the_latest(
    connection: Connection, now: datetime, workers: int
) -> None:
    sixty = [upload(connection, "anna") for _ in range(SIXTY)]
    under_way = [claim(connection, now) for _ in range(workers)]
    other = upload(connection, "bert")

    order = end_of_queue(connection, now)

    assert other in order[:2]
    assert [job.conversion_id for job in under_way] + [each for each in order if each != other] == sixty


def test_each_of_three_uploaders_has_one_conversion_a_turn(connection: Connection, now: datetime) -> None:
    of = {each: [upload(connection, each) for _ in range(3)] for each in ("anna", "bert", "cleo")}

    order = end_of_queue(connection, now)

    assert order == [decks[turn] for turn in range(3) for decks in of.values()]


def test_newcomers_without_end_do_not_keep_a_second_deck_from_its_turn(connection: Connection, now: datetime) -> None:
    upload(connection, "anna")
    second = upload(connection, "anna")
    order: list[int] = []

    while second not in order:
        upload(connection, f"newcomer {len(order)}")
        job = claim(connection, now)
        order.append(job.conversion_id)
        finish(connection, now, job)

    assert len(order) <= 3


def test_a_conversion_whose_worker_was_killed_is_next_before_all_others(connection: Connection, now: datetime) -> None:
    ids = [upload(connection, "anna") for _ in range(5)]
    claim(connection, now)

    later = now + LEASE + timedelta(seconds=1)

    assert [claim(connection, later).conversion_id for _ in range(5)] == ids


def test_a_conversion_that_is_tried_again_waits_behind_its_uploaders_others(
    connection: Connection, now: datetime
) -> None:
    bad, *others = (upload(connection, "anna") for _ in range(3))
    operations.fail_or_release(connection, now, claim(connection, now), Fault.CONVERTER_BUSY, DEADLINE)
    foreign = upload(connection, "bert")

    order = end_of_queue(connection, now)

    assert [each for each in order if each != foreign] == [*others, bad]


def test_a_waiting_deck_says_how_many_wait_before_it(connection: Connection, now: datetime) -> None:
    ids = [upload(connection, "anna") for _ in range(4)]
    claim(connection, now)
    ids.append(upload(connection, "bert"))

    listed = {row.id: row.waiting_before for row in store.list_page(connection, 10)}

    assert [listed[each] for each in ids] == [None, 0, 2, 3, 1]


TEN_THOUSAND = """
    WITH media AS (INSERT INTO event_media (filename, kind, bytes, sha256, path, uploaded_at, uploaded_by)
        SELECT 'a.pptx', 'pptx', 1, md5(n::text), md5(n::text), now(), 'person ' || n % 100
        FROM generate_series(1, 10000) AS n RETURNING id, sha256)
    INSERT INTO conversions (source_event_media_id, file_hash, turn, created_at, enqueued_at)
        SELECT id, sha256, id / 100, now(), now() FROM media
"""


@pytest.mark.parametrize("kept", [False, True])
def test_a_claim_among_ten_thousand_that_wait_reads_a_handful_of_rows(
    connection: Connection, now: datetime, kept: bool
) -> None:
    connection.execute(sa.text(TEN_THOUSAND))
    connection.execute(sa.text("ANALYZE conversions, event_media"))

    plan = plan_of(connection, lambda asked: store.claim(asked, now, "token", now - LEASE), kept=kept)

    assert rows_read(plan) < 20


def test_uploads_of_one_person_at_once_have_a_turn_each(engine: Engine) -> None:
    at_once = 8
    gate = threading.Barrier(at_once)

    def one(_number: int) -> int:
        with transaction(engine) as connection:
            gate.wait(60)
            return upload(connection, "anna")

    with ThreadPoolExecutor(at_once) as pool:
        list(pool.map(one, range(at_once)))

    with transaction(engine) as connection:
        turns = connection.execute(sa.select(conversions.c.turn).order_by(conversions.c.turn)).scalars().all()
        connection.execute(sa.delete(conversions))
        connection.execute(sa.delete(event_media))
    assert turns == list(range(1, at_once + 1))


def test_workers_that_claim_at_once_share_the_first_turns(engine: Engine) -> None:
    workers = 4
    with transaction(engine) as connection:
        ids = [upload(connection, each) for each in ("anna", "bert", "cleo", "dora") for _ in range(2)]
    gate = threading.Barrier(workers)

    def one(_number: int) -> int:
        with transaction(engine) as connection:
            now = database_now(connection)
            gate.wait(60)
            job = claim(connection, now)
            gate.wait(60)
            return job.conversion_id

    with ThreadPoolExecutor(workers) as pool:
        claimed = sorted(pool.map(one, range(workers)))

    with transaction(engine) as connection:
        connection.execute(sa.delete(conversions))
        connection.execute(sa.delete(event_media))
    assert claimed == ids[::2]
