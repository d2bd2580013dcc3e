"""Files sent to an address of ours that expires, which speaks as the bucket does."""

import hashlib
import secrets
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy import Engine

from shared.config import Config
from shared.event_media.uploads import operations
from shared.event_media.uploads.rules import SIGNED_WAYS, check_whole
from shared.outside.media_volume.signed_uploads import LocalUploads
from shared.postgres.door import database_now, transaction
from shared.tables import audit_log, event_media, uploads
from tests.api.people import Api
from tests.api.signed_sender import FILM, PATH, api_with, begin, complete, files_of, how_far, plan, put
from tests.worker import decks


@pytest.fixture
def signed(configuration: Config, engine: Engine) -> Api:
    """The API with SIGNED_UPLOADS=local."""
    return api_with(configuration, engine, SIGNED_UPLOADS="local")


def test_a_presentation_sent_whole_becomes_a_medium_with_its_conversion(
    signed: Api, engine: Engine, media_root: Path, tmp_path: Path
) -> None:
    decks.make_pptx(tmp_path / "a.pptx", 1)
    deck = (tmp_path / "a.pptx").read_bytes()
    planned = plan(signed, "a.pptx", deck, sha256=hashlib.sha256(deck).hexdigest())

    sent = put(signed, begin(signed, planned), deck)
    done = complete(signed, planned)

    assert sent.status_code == 200
    assert (done.status_code, done.get_json()["conversion"]["status"]) == (201, "pending")
    media = done.get_json()["media"]
    assert (media["filename"], media["bytes"]) == ("a.pptx", len(deck))
    assert signed.get(f"/api/event-media/{media['id']}/content", buffered=True).data == deck
    assert signed.get(f"{PATH}/{planned['id']}").get_json()["media_id"] == media["id"]
    assert files_of(planned, media_root) == []
    with transaction(engine) as connection:
        actions = connection.execute(sa.select(audit_log.c.action).order_by(audit_log.c.id.desc()).limit(2))
        assert set(actions.scalars()) == {"upload.create", "event_media.upload"}


def test_it_goes_on_where_it_was_cut_off(signed: Api) -> None:
    session = begin(signed, plan(signed))

    nothing = how_far(signed, session)
    first = put(signed, session, FILM[:40_000], 0)
    asked = how_far(signed, session)
    wrong = put(signed, session, FILM[50_000:], 50_000)
    last = put(signed, session, FILM[40_000:], 40_000)

    assert (nothing.status_code, "Range" in nothing.headers) == (308, False)
    assert (first.status_code, first.headers["Range"]) == (308, "bytes=0-39999")
    assert (asked.status_code, asked.headers["Range"]) == (308, "bytes=0-39999")
    assert (wrong.status_code, wrong.get_json()["upload_offset"]) == (409, 40_000)
    assert last.status_code == how_far(signed, session).status_code == 200
    assert put(signed, session, b"again").status_code == 200, "what is whole takes nothing more"


def test_what_is_not_whole_is_not_complete(signed: Api) -> None:
    planned = plan(signed)
    put(signed, begin(signed, planned), FILM[:1000], 0)

    answer = complete(signed, planned)

    assert (answer.status_code, answer.get_json()["code"]) == (409, "upload_incomplete")
    assert answer.get_json()["received"] == signed.get(f"{PATH}/{planned['id']}").get_json()["received"] == 1000


def test_other_bytes_than_announced_are_refused_and_forgotten(signed: Api, media_root: Path) -> None:
    planned = plan(signed, sha256="ab" * 32)
    put(signed, begin(signed, planned), FILM)

    answer = complete(signed, planned)

    assert (answer.status_code, answer.get_json()["code"]) == (422, "content_differs")
    assert signed.get(f"{PATH}/{planned['id']}").status_code == 404
    assert files_of(planned, media_root) == []


def test_what_is_no_presentation_is_refused_and_forgotten(signed: Api, media_root: Path) -> None:
    planned = plan(signed, "deck.pptx", b"not a deck")
    put(signed, begin(signed, planned), b"not a deck")

    answer = complete(signed, planned)

    assert (answer.status_code, answer.get_json()["code"]) == (422, "not_a_presentation")
    assert files_of(planned, media_root) == []
    assert complete(signed, planned).status_code == 404


def test_completing_twice_and_at_once_makes_one_medium(signed: Api, engine: Engine) -> None:
    planned = plan(signed)
    put(signed, begin(signed, planned), FILM)

    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda _: complete(signed, planned), range(4)))

    statuses = [answer.status_code for answer in answers]
    assert statuses.count(201) == 1
    assert set(statuses) <= {201, 200, 423}
    again = complete(signed, planned)
    assert again.status_code == 200
    with transaction(engine) as connection:
        count = (
            sa.select(sa.func.count())
            .select_from(event_media)
            .where(
                event_media.c.sha256 == hashlib.sha256(FILM).hexdigest(),
                event_media.c.id >= again.get_json()["media"]["id"],
            )
        )
        assert connection.execute(count).scalar_one() == 1


def test_of_two_completions_one_cannot_come_between_the_others_look_and_its_turn(
    signed: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    planned = plan(signed)
    put(signed, begin(signed, planned), FILM)
    statuses: list[int] = []
    other = threading.Thread(target=lambda: statuses.append(complete(signed, planned).status_code))
    seen = "functions.api.routes.signed_uploads.check_whole"

    def look(*arguments: Any) -> None:
        monkeypatch.setattr(seen, check_whole)
        other.start()
        other.join(0.5)  # it waits for the row, or is done if it need not
        check_whole(*arguments)

    monkeypatch.setattr(seen, look)
    statuses.append(complete(signed, planned).status_code)
    other.join()

    assert sorted(statuses) in ([201, 423], [200, 201])
    assert complete(signed, planned).status_code == 200


def test_a_completion_that_was_killed_half_way_can_be_asked_for_again_after_its_lease(
    signed: Api, engine: Engine
) -> None:
    planned = plan(signed)
    put(signed, begin(signed, planned), FILM)
    with transaction(engine) as connection:
        operations.take_turn(connection, database_now(connection), planned["id"], None, SIGNED_WAYS)

    held = complete(signed, planned)
    with transaction(engine) as connection:
        over = database_now(connection) - timedelta(seconds=1)
        connection.execute(sa.update(uploads).where(uploads.c.id == planned["id"]).values(writer_until=over))

    assert (held.status_code, held.get_json()["code"]) == (423, "upload_locked")
    assert int(held.headers["Retry-After"]) > 0
    assert complete(signed, planned).status_code == 201


@pytest.mark.parametrize(
    ("content", "said", "status"),
    [
        (FILM + b"x", {}, 413),
        (b"x", {"Content-Range": "bytes 0-0/7"}, 400),
        (b"x", {"Content-Range": "bytes 0/7"}, 400),
        (b"", {"Content-Range": f"bytes */{len(FILM) + 1}"}, 400),
    ],
)
def test_a_body_that_does_not_fit_is_refused(signed: Api, content: bytes, said: dict[str, str], status: int) -> None:
    session = begin(signed, plan(signed))

    assert signed.ask("PUT", session, None, data=content, headers=said).status_code == status
    assert how_far(signed, session).status_code == 308


@pytest.mark.parametrize(
    ("fields", "status", "code"),
    [
        ({"filename": "notes.txt", "bytes": 1}, 415, "unsupported_media_type"),
        ({"filename": "film.mp4", "bytes": 10**12}, 413, "too_large"),
        ({"filename": "film.mp4", "bytes": 0}, 400, "invalid_field"),
        ({"filename": "film.mp4", "bytes": 1, "sha256": "AB"}, 400, "invalid_field"),
    ],
)
def test_a_bad_plan_is_refused_before_a_byte_is_sent(
    signed: Api, fields: dict[str, Any], status: int, code: str
) -> None:
    answer = signed.post(PATH, json=fields)

    assert (answer.status_code, answer.get_json()["code"]) == (status, code)


def test_an_address_opens_its_own_upload_until_it_ends_and_nothing_else(signed: Api, engine: Engine) -> None:
    planned = plan(signed)
    session = begin(signed, planned)
    start_token, session_token = planned["url"].rpartition("/")[2], session.rpartition("/")[2]

    swapped = signed.ask("PUT", f"/api/files/upload-sessions/{start_token}", None, data=FILM)
    other_way = signed.ask("POST", f"/api/files/signed-uploads/{session_token}", None)
    forged = signed.ask("PUT", f"{session[:-2]}AA", None, data=FILM)
    by_tus = signed.ask(
        "HEAD", f"/api/event-media/uploads/{planned['id']}", "viewer", headers={"Tus-Resumable": "1.0.0"}
    )
    assert [answer.status_code for answer in (swapped, other_way, forged, by_tus)] == [404] * 4

    assert signed.delete(f"{PATH}/{planned['id']}", "operator").status_code == 204
    assert put(signed, session, FILM).status_code == 404


def test_what_is_not_finished_in_a_day_is_gone(signed: Api, engine: Engine, media_root: Path) -> None:
    planned = plan(signed)
    session = begin(signed, planned)
    put(signed, session, FILM[:1000], 0)
    assert len(files_of(planned, media_root)) == 1
    with transaction(engine) as connection:
        connection.execute(sa.update(uploads).values(expires_at=database_now(connection) - timedelta(seconds=1)))

    assert [put(signed, session, FILM).status_code, complete(signed, planned).status_code] == [404, 404]
    plan(signed)

    assert files_of(planned, media_root) == []


def test_where_it_is_off_there_are_no_addresses(api: Api) -> None:
    token = LocalUploads(secrets.token_hex(32)).session_url("ab" * 16, datetime.now(UTC) + timedelta(hours=1))

    answer = api.post(PATH, json={"filename": "film.mp4", "bytes": 1})

    assert (answer.status_code, answer.get_json()["code"]) == (409, "signed_uploads_off")
    assert api.ask("PUT", token, None, data=b"x").status_code == 404
