"""The rules about files that no JSON schema can say, and files that make requests succeed; see `schema_repairs`."""

import base64
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, Final
from urllib.parse import urlsplit

from shared.outside.media_volume.signing import LocalSigner, SignedFile
from tests.api.schema_world import GIF, SIGNING_KEY, World, convert, lose_pdf
from tests.worker.hostile_pdfs import PDF

Case = Any  # of schemathesis; its parts are JSON of any shape
Repair = Callable[[World, Case, dict[str, Any]], None]
MOST_BYTES: Final = 1_000_000  # below UPLOAD_LIMIT_BYTES, which is a setting
TUS: Final = {"Tus-Resumable": "1.0.0"}
NAME: Final = base64.b64encode(b"talk.pdf").decode()


def _file(world: World, _case: Case, kwargs: dict[str, Any]) -> None:
    """A file's name ends in its kind, and it is of that kind."""
    name, content = [("a.pptx", world.deck), ("b.pdf", PDF), ("c.gif", GIF)][datetime.now(UTC).microsecond % 3]
    kwargs["files"] = {"file": (name, content)}


def _announced(_world: World, case: Case, _kwargs: dict[str, Any]) -> None:
    """The name ends in a kind that is taken, and the file is no larger than the setting allows."""
    length = min(int(str((case.headers or {}).get("Upload-Length", 1))), MOST_BYTES)
    case.headers = {**(case.headers or {}), "Upload-Length": str(length), "Upload-Metadata": f"filename {NAME}"}


def _announced_signed(_world: World, case: Case, _kwargs: dict[str, Any]) -> None:
    """As `_announced`."""
    if isinstance(case.body, dict):
        name = f"{str(case.body['filename'])[:200]}e.pdf"  # what stands before the last slash is no name
        case.body = {**case.body, "filename": name, "bytes": min(case.body["bytes"], MOST_BYTES)}


def _part(world: World, case: Case, kwargs: dict[str, Any]) -> None:
    """Parts follow one another, and the whole is what its name says."""
    headers = {**TUS, "Upload-Length": str(len(PDF)), "Upload-Metadata": f"filename {NAME}"}
    upload = world.made("/api/event-media/uploads", headers=headers)
    case.path_parameters = {"upload_id": upload["id"]}
    case.headers = {**(case.headers or {}), "Upload-Offset": "0"}
    kwargs["data"] = PDF


def _begun(world: World) -> Any:
    return world.made("/api/event-media/signed-uploads", {"filename": "e.pdf", "bytes": len(PDF)})


def _session(world: World) -> tuple[str, str]:
    """An upload's id and the token of the address that its bytes go to."""
    begun = _begun(world)
    answer = world.ask("POST", urlsplit(begun["url"]).path, headers=begun["headers"])
    return begun["id"], urlsplit(answer.headers["Location"]).path.rpartition("/")[2]


def _start(world: World, case: Case, _kwargs: dict[str, Any]) -> None:
    """An address that expires is one that was handed out."""
    case.path_parameters = {"token": urlsplit(_begun(world)["url"]).path.rpartition("/")[2]}


def _send(world: World, case: Case, kwargs: dict[str, Any]) -> None:
    """As `_start`; what is sent is the whole file."""
    case.path_parameters = {"token": _session(world)[1]}
    case.headers = {**(case.headers or {}), "Content-Range": f"bytes 0-{len(PDF) - 1}/{len(PDF)}"}
    kwargs["data"] = PDF


def _whole(_world: World, case: Case, _kwargs: dict[str, Any]) -> None:
    """A range is of as many bytes as were announced; without one the body is all of them."""
    case.headers = {name: value for name, value in (case.headers or {}).items() if name.lower() != "content-range"}


def _complete(world: World, case: Case, _kwargs: dict[str, Any]) -> None:
    """All bytes were sent."""
    upload_id, token = _session(world)
    world.ask("PUT", f"/api/files/upload-sessions/{token}", data=PDF)
    case.path_parameters = {"upload_id": upload_id}


def _download(world: World, case: Case, _kwargs: dict[str, Any]) -> None:
    """As `_start`."""
    world.made("/api/event-media", files={"file": ("b.pdf", PDF)})
    path = next((world.volume.root / "originals").rglob("*.pdf")).relative_to(world.volume.root)
    file = SignedFile(str(path), "application/pdf", "inline")
    where = LocalSigner(SIGNING_KEY).download_url(file, datetime.now(UTC))
    case.path_parameters = {"token": urlsplit(where).path.rpartition("/")[2]}


def _converted(world: World, case: Case, _kwargs: dict[str, Any]) -> None:
    """A PDF that is there."""
    folder = world.volume.root / "converted"
    if not any(folder.rglob("*.pdf")):  # somebody deleted its medium
        convert(world, world.made("/api/event-media", files={"file": ("a.pptx", world.deck)}))
    case.path_parameters = {"path": str(next(folder.rglob("*.pdf")).relative_to(folder))}


def _lost(world: World, case: Case, _kwargs: dict[str, Any]) -> None:
    """A PDF that is to be made again."""
    case.path_parameters = {"media_id": lose_pdf(world)}


RULES: Final[dict[str, Repair]] = {
    "PUT /api/files/upload-sessions/{token}": _whole,
    "POST /api/event-media": _file,
    "POST /api/event-media/uploads": _announced,
    "POST /api/event-media/signed-uploads": _announced_signed,
}
CHANCES: Final[dict[str, Repair]] = {
    "PATCH /api/event-media/uploads/{upload_id}": _part,
    "POST /api/files/signed-uploads/{token}": _start,
    "PUT /api/files/upload-sessions/{token}": _send,
    "POST /api/event-media/signed-uploads/{upload_id}/complete": _complete,
    "GET /api/files/signed/{token}": _download,
    "GET /api/files/converted/{path}": _converted,
    "POST /api/conversions/{media_id}/pdf": _lost,
}
