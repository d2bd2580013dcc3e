"""A medium through the API: renamed, deleted with its files, converted again, its first page shown."""

import hashlib
import io
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from flask import Flask
from sqlalchemy import Engine

from shared.conversions import operations as conversions
from shared.conversions import store
from shared.conversions.report_rules import Findings
from shared.event_media.store import lock_content
from shared.outside.media_volume import MediaVolume, converted_path
from shared.postgres.door import database_now, transaction
from shared.tables import audit_log
from shared.tables import conversions as conversions_table
from tests.api.people import Api
from tests.worker import decks, hostile_decks
from tests.worker.hostile_pdfs import PDF


@pytest.fixture
def volume(app: Flask) -> MediaVolume:
    found: MediaVolume = app.extensions["signage"].media_volume
    return found


@pytest.fixture
def deck(tmp_path: Path) -> bytes:
    decks.make_pptx(tmp_path / "a.pptx", 1, seed=abs(hash(tmp_path)) % 10_000)
    return (tmp_path / "a.pptx").read_bytes()


def upload(api: Api, name: str, content: bytes) -> dict[str, Any]:
    answer: dict[str, Any] = api.post("/api/event-media", data={"file": (io.BytesIO(content), name)}).get_json()
    return answer


def make_ready(engine: Engine, volume: MediaVolume, uploaded: dict[str, Any], pages: int = 1) -> str:
    """Finish a conversion as the worker does. Returns the path of the PDF."""
    file_hash = uploaded["media"]["sha256"]
    path = converted_path(file_hash)
    with volume.writing_converted(path, "tests") as draft:
        draft.write(PDF)
    volume.write_thumbnail(file_hash, b"\x89PNG")
    with transaction(engine) as connection:
        now = database_now(connection)
        first = sa.update(conversions_table).where(conversions_table.c.id == uploaded["conversion"]["id"])
        connection.execute(first.values(turn=-1))
        job = conversions.claim(connection, now, now - now)
        assert job is not None
        found = Findings(pages, 1, 0, None, None, has_thumbnail=True)
        assert conversions.finish(connection, now, volume, job, path, found)
    return path


def files_of(volume: MediaVolume, content: bytes) -> list[str]:
    """The folders that have files of this content."""
    named = hashlib.sha256(content).hexdigest()
    return sorted(path.relative_to(volume.root).parts[0] for path in volume.root.rglob(f"*{named}*"))


NAMES = [
    ("Lunch menu.pdf", 200, "Lunch menu.pdf"),
    ("Lunch menu", 200, "Lunch menu.pdf"),
    ("menu.exe", 200, "menu.exe.pdf"),
    ("../../etc/menu.pdf", 200, "menu.pdf"),
    ("a\u202efdp.pdf", 200, "afdp.pdf"),
    ("x" * 255, 200, "x" * 251 + ".pdf"),
    ("", 400, None),
    ("...", 422, None),
    ("\u202e", 422, None),
]


@pytest.mark.parametrize(("name", "status", "shown"), NAMES)
def test_a_medium_gets_another_name_and_keeps_its_ending(api: Api, name: str, status: int, shown: str | None) -> None:
    media = upload(api, "menu.pdf", PDF)["media"]

    answer = api.patch(f"/api/event-media/{media['id']}", json={"filename": name})

    assert answer.status_code == status
    assert api.get(f"/api/event-media/{media['id']}").get_json()["filename"] == (shown or "menu.pdf")


def test_a_deleted_medium_is_gone_with_its_files_and_its_conversion(
    api: Api, engine: Engine, volume: MediaVolume, deck: bytes
) -> None:
    uploaded = upload(api, "talk.pptx", deck)
    path, media_id = make_ready(engine, volume, uploaded), uploaded["media"]["id"]
    assert files_of(volume, deck) == ["converted", "originals", "thumbnails"]
    assert api.get(f"/api/event-media/{media_id}/thumbnail", buffered=True).data == b"\x89PNG"

    assert api.delete(f"/api/event-media/{media_id}").status_code == 204

    assert files_of(volume, deck) == []
    for gone in (
        f"/api/event-media/{media_id}",
        f"/api/event-media/{media_id}/content",
        f"/api/event-media/{media_id}/thumbnail",
        f"/api/conversions/{media_id}/status",
        f"/api/files/converted/{path}",
    ):
        assert api.get(gone).status_code == 404
    assert api.delete(f"/api/event-media/{media_id}").status_code == 404
    with transaction(engine) as connection:
        said = sa.select(audit_log.c.action).where(audit_log.c.target == str(media_id)).order_by(audit_log.c.id)
        assert connection.execute(said).scalars().all()[-1] == "event_media.delete"


def test_files_that_another_medium_still_names_stay(api: Api, engine: Engine, volume: MediaVolume, deck: bytes) -> None:
    first, second = upload(api, "a.pptx", deck), upload(api, "b.pptx", deck)
    path = make_ready(engine, volume, first)
    make_ready(engine, volume, second)

    api.delete(f"/api/event-media/{first['media']['id']}")

    assert files_of(volume, deck) == ["converted", "originals", "thumbnails"]
    assert api.get(f"/api/files/converted/{path}", buffered=True).data == PDF
    assert api.get(f"/api/event-media/{second['media']['id']}/content", buffered=True).data == deck


def test_the_same_bytes_under_another_kind_of_name_keep_their_own_original(
    api: Api, volume: MediaVolume, deck: bytes
) -> None:
    first, second = upload(api, "a.pptx", deck), upload(api, "b.odp", deck)  # the content decides the kind

    api.delete(f"/api/event-media/{first['media']['id']}")

    assert second["media"]["kind"] == "pptx"
    assert files_of(volume, deck) == ["originals"]


def test_a_delete_that_fails_in_the_database_has_removed_nothing(
    api: Api, engine: Engine, volume: MediaVolume, deck: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    uploaded = upload(api, "talk.pptx", deck)

    def fail(*_arguments: Any) -> None:
        raise RuntimeError

    with monkeypatch.context() as patched:
        patched.setattr(store, "delete_of_media", fail)
        answer = api.delete(f"/api/event-media/{uploaded['media']['id']}")

    assert answer.status_code == 500
    assert files_of(volume, deck) == ["originals"]
    assert api.get(f"/api/event-media/{uploaded['media']['id']}/content", buffered=True).data == deck


def test_a_delete_waits_for_an_upload_of_the_same_bytes_and_leaves_its_file(
    api: Api, engine: Engine, volume: MediaVolume, deck: bytes
) -> None:
    from concurrent.futures import ThreadPoolExecutor, TimeoutError as Waiting  # noqa: PLC0415, I001

    uploaded = upload(api, "talk.pptx", deck)
    with ThreadPoolExecutor(1) as pool:
        with transaction(engine) as connection:
            lock_content(connection, uploaded["media"]["sha256"])
            deleting = pool.submit(api.delete, f"/api/event-media/{uploaded['media']['id']}")
            with pytest.raises(Waiting):
                deleting.result(0.3)
            assert files_of(volume, deck) == ["originals"]
        assert deleting.result(60).status_code == 204
    assert files_of(volume, deck) == []


def test_a_pdf_is_made_anew_on_request_and_served_until_then(
    api: Api, engine: Engine, volume: MediaVolume, deck: bytes
) -> None:
    uploaded = upload(api, "talk.pptx", deck)
    media_id = uploaded["media"]["id"]
    path = make_ready(engine, volume, uploaded)
    before = api.get(f"/api/files/converted/{path}", buffered=True)

    answers = [api.post(f"/api/conversions/{media_id}/reconvert") for _ in range(2)]

    assert [answer.status_code for answer in answers] == [202, 202]
    assert [answer.get_json()["status"] for answer in answers] == ["pending", "pending"]
    assert api.get(f"/api/files/converted/{path}", buffered=True).data == PDF
    make_ready(engine, volume, uploaded)
    after = api.get(f"/api/files/converted/{path}", headers={"If-None-Match": before.headers["ETag"]}, buffered=True)
    assert after.status_code == 200, "another file under the same address has another ETag"


def test_what_is_no_presentation_is_not_converted_anew(api: Api) -> None:
    media = upload(api, "menu.pdf", PDF)["media"]

    answer = api.post(f"/api/conversions/{media['id']}/reconvert")

    assert (answer.status_code, answer.get_json()["code"]) == (422, "not_convertible")
    assert api.get(f"/api/event-media/{media['id']}/thumbnail").get_json()["code"] == "thumbnail_not_found"


def test_a_pdf_that_has_vanished_from_the_volume_is_made_again_when_asked_for(
    api: Api, engine: Engine, volume: MediaVolume, deck: bytes
) -> None:
    uploaded = upload(api, "talk.pptx", deck)
    path = make_ready(engine, volume, uploaded)
    ask = f"/api/conversions/{uploaded['media']['id']}/pdf"
    assert api.post(ask).status_code == 200

    (volume.root / "converted" / path).unlink()

    assert api.get(f"/api/files/converted/{path}").status_code == 404
    answer = api.post(ask)
    assert (answer.status_code, answer.get_json()["status"]) == (202, "pending")


def test_a_deck_that_waits_says_everywhere_how_many_wait_before_it(api: Api, engine: Engine, deck: bytes) -> None:
    with transaction(engine) as connection:
        connection.execute(sa.delete(conversions_table))
    made = [
        upload(api, "talk.pptx", hostile_decks.with_parts(deck, {"docProps/mark.txt": b"%d" % number}))
        for number in range(3)
    ]

    for number, each in enumerate(made):
        media_id = each["media"]["id"]
        listed = {item["media_id"]: item for item in api.get("/api/conversions").get_json()["items"]}
        media = {item["id"]: item["conversion"] for item in api.get("/api/event-media").get_json()["items"]}
        said = (
            each["conversion"],
            api.get(f"/api/conversions/{media_id}/status").get_json(),
            api.get(f"/api/event-media/{media_id}").get_json()["conversion"],
            listed[media_id],
            media[media_id],
        )
        assert [conversion["waiting_before"] for conversion in said] == [number] * 5
