"""The rules about files that no JSON schema can say, and files that make requests succeed; see `schema_repairs`."""

import base64
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, Final

from tests.api.schema_world import GIF, World, convert, lose_pdf
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


def _part(world: World, case: Case, kwargs: dict[str, Any]) -> None:
    """Parts follow one another, and the whole is what its name says."""
    headers = {**TUS, "Upload-Length": str(len(PDF)), "Upload-Metadata": f"filename {NAME}"}
    upload = world.made("/api/event-media/uploads", headers=headers)
    case.path_parameters = {"upload_id": upload["id"]}
    case.headers = {**(case.headers or {}), "Upload-Offset": "0"}
    kwargs["data"] = PDF


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
    "POST /api/event-media": _file,
    "POST /api/event-media/uploads": _announced,
}
CHANCES: Final[dict[str, Repair]] = {
    "PATCH /api/event-media/uploads/{upload_id}": _part,
    "GET /api/files/converted/{path}": _converted,
    "POST /api/conversions/{media_id}/pdf": _lost,
}
