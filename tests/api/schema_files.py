"""Rules about files that a JSON schema cannot express, and files that make requests succeed: see `schema_repairs`."""

import base64
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, Final
from uuid import uuid4

import sqlalchemy as sa

from displays.simulated.picture import draw
from shared.postgres.door import database_now
from shared.tables import screenshots
from tests.api.schema_world import GIF, World, convert, fail, lose_pdf
from tests.stores.commands_world import new_client
from tests.worker.hostile_pdfs import PDF

Case = Any  # of schemathesis; its parts are JSON of any shape
Repair = Callable[[World, Case, dict[str, Any]], None]
MOST_BYTES: Final = 1_000_000  # below UPLOAD_LIMIT_BYTES, which is a setting
TUS: Final = {"Tus-Resumable": "1.0.0"}
PICTURE: Final = draw("Lobby", "12:00", "running")
NAME: Final = base64.b64encode(b"talk.pdf").decode()


def _file(world: World, _case: Case, kwargs: dict[str, Any]) -> None:
    """Send a file of the kind that its name ends in."""
    name, content = [("a.pptx", world.deck), ("b.pdf", PDF), ("c.gif", GIF)][datetime.now(UTC).microsecond % 3]
    kwargs["files"] = {"file": (name, content)}


def _announced(_world: World, case: Case, _kwargs: dict[str, Any]) -> None:
    """Announce a name with a supported ending, and a size within the limit."""
    length = min(int(str((case.headers or {}).get("Upload-Length", 1))), MOST_BYTES)
    case.headers = {**(case.headers or {}), "Upload-Length": str(length), "Upload-Metadata": f"filename {NAME}"}


def _part(world: World, case: Case, kwargs: dict[str, Any]) -> None:
    """Send the next part, and in the end a whole file of the announced kind."""
    headers = {**TUS, "Upload-Length": str(len(PDF)), "Upload-Metadata": f"filename {NAME}"}
    upload = world.made("/api/event-media/uploads", headers=headers)
    case.path_parameters = {"upload_id": upload["id"]}
    case.headers = {**(case.headers or {}), "Upload-Offset": "0"}
    kwargs["data"] = PDF


def _converted(world: World, case: Case, _kwargs: dict[str, Any]) -> None:
    """Request an existing PDF."""
    folder = world.volume.root / "converted"
    if not any(folder.rglob("*.pdf")):  # another request deleted its medium
        convert(world, world.made("/api/event-media", files={"file": ("a.pptx", world.deck)}))
    case.path_parameters = {"path": str(next(folder.rglob("*.pdf")).relative_to(folder))}


def _lost(world: World, case: Case, _kwargs: dict[str, Any]) -> None:
    """Request the conversion of a medium whose PDF is missing."""
    case.path_parameters = {"media_id": lose_pdf(world)}


def _display(world: World, case: Case, kwargs: dict[str, Any]) -> str:
    """Send a JPEG and the login of a display that can take pictures. Returns its uuid."""
    uuid = new_client(world.engine, capabilities=["screenshot"], site=f"Site {uuid4()}")
    login = world.made("/api/enroll", {"code": world.made(f"/api/clients/{uuid}/enrolment")["code"]})
    case.headers = {**(case.headers or {}), "Content-Type": "image/jpeg"}
    kwargs |= {"auth": (uuid, login["password"]), "data": PICTURE}
    return uuid


def _asked(world: World, case: Case, kwargs: dict[str, Any]) -> None:
    """Send a requested picture."""
    uuid = _display(world, case, kwargs)
    command = world.made(f"/api/clients/{uuid}/commands", {"action": "screenshot"})
    case.path_parameters = {"command_id": command["id"]}


def _before(world: World, case: Case, kwargs: dict[str, Any]) -> None:
    """Send a picture of a display that has just failed."""
    fail(world, _display(world, case, kwargs))


def _seen(world: World, case: Case, _kwargs: dict[str, Any]) -> None:
    """Request an existing picture."""
    uuid = new_client(world.engine, site=f"Site {uuid4()}")
    with world.engine.begin() as connection:
        now = database_now(connection)
        values = {"client_uuid": uuid, "command_id": str(uuid4()), "taken_at": now, "stored_at": now, "jpeg": PICTURE}
        made = sa.insert(screenshots).values(**values, width=960, height=544).returning(screenshots.c.id)
        case.path_parameters = {"screenshot_id": connection.execute(made).scalar_one()}


RULES: Final[dict[str, Repair]] = {
    "POST /api/event-media": _file,
    "POST /api/event-media/uploads": _announced,
}
CHANCES: Final[dict[str, Repair]] = {
    "PATCH /api/event-media/uploads/{upload_id}": _part,
    "GET /api/files/converted/{path}": _converted,
    "POST /api/conversions/{media_id}/pdf": _lost,
    "POST /api/display/screenshots/{command_id}": _asked,
    "POST /api/display/screenshots": _before,
    "GET /api/screenshots/{screenshot_id}": _seen,
}
