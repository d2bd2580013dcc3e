"""Pictures of screens: displays send them under their own login, people look at them, admins say where nobody may."""

import base64
import binascii
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Annotated, Any, Final

import msgspec
from flask import Response
from sqlalchemy import Connection

from extensions.screenshots import operations, rules, store
from extensions.screenshots.rules import Picture
from extensions.screenshots.store import Screenshot
from functions.api.bodies import Answer, Body, QueryParameters, Uuid
from functions.api.files import OTHERS_POLICY
from functions.api.routing import PUBLIC, Bound, Call, Header, Reply, Routes
from functions.api.shapes.sites import AnySite
from functions.api.turns import PICTURES
from functions.problems import DatabaseUnavailable
from shared.access import enrolment_operations
from shared.access import operations as access
from shared.access.rules import AuditLine
from shared.commands.news_operations import log_news
from shared.errors import (
    ClientNotFound,
    IncidentNotFound,
    InvalidIdentity,
    ScreenshotNotFound,
    ScreenshotNotWanted,
    ScreenshotsOff,
    UnsupportedMediaType,
    UploadTooLarge,
)
from shared.incidents import timeline_operations
from shared.postgres import door
from shared.sites import pictures_store
from shared.vocabulary import Role

routes = Routes(
    "screenshots", "/api", "Pictures of screens: asked for by a command, and the last ones before a failure."
)

JPEG: Final = "image/jpeg"
MOST_OF_INCIDENT: Final = 100
LOGIN: Final = Header("Basic: the display's uuid and its password at the broker", required=True)


class ScreenshotsOfClient(Answer):
    """Whether this screen may be seen, and its pictures, the newest first."""

    allowed: bool
    items: list[Screenshot]


class ScreenshotsOfIncident(Answer):
    """The last pictures before the displays of an incident failed, by display."""

    items: list[Screenshot]


class NewestQuery(QueryParameters):
    """Whose pictures to list."""

    client: Annotated[
        list[Uuid], msgspec.Meta(min_length=1, max_length=100, description="repeat it for several displays")
    ]


class NewestScreenshots(Answer):
    """The newest picture of each display that has one and whose screen may be seen."""

    items: list[Screenshot]


class ScreenshotPolicy(Answer):
    """The sites whose screens nobody may see; an empty name means displays without a site."""

    sites_off: list[str]


class SitePolicy(Body):
    """Whether the screens of a site may be seen; an empty name means displays without a site."""

    site: AnySite
    allowed: bool


Age = Annotated[int, msgspec.Meta(ge=0, le=86_400, description="how old the picture is")]


class AnswerPicture(QueryParameters):
    """A picture that a command asked for."""

    age_seconds: Age = 0


class EarlierPicture(QueryParameters):
    """One of the last ten before a failure; 1 is the last."""

    place: Annotated[int, msgspec.Meta(ge=1, le=rules.KEPT)]
    age_seconds: Age = 0


@routes.get("/clients/<uuid:uuid>/screenshots", role=Role.OPERATOR, bound=Bound.CLIENTS, raises=(ClientNotFound,))
def screenshots_of_client(call: Call, uuid: str) -> ScreenshotsOfClient:
    """The pictures of a display's screen that are kept."""
    with call.transaction() as (connection, _):
        allowed = pictures_store.is_allowed(connection, uuid)
        items = store.of_client(connection, uuid)
    if allowed is None:
        raise ClientNotFound
    return ScreenshotsOfClient(allowed=allowed, items=items)


@routes.get(
    "/incidents/<id:incident_id>/screenshots", role=Role.OPERATOR, bound=Bound.LISTS, raises=(IncidentNotFound,)
)
def screenshots_of_incident(call: Call, incident_id: int) -> ScreenshotsOfIncident:
    """The last pictures before the displays of an incident failed, of up to ten displays."""
    with call.transaction() as (connection, _):
        timeline_operations.find(connection, incident_id)
        items = store.of_incident(connection, incident_id, MOST_OF_INCIDENT)
    return ScreenshotsOfIncident(items=items)


@routes.get("/screenshots", role=Role.OPERATOR, bound=Bound.LISTS)
def newest_screenshots(call: Call, query: NewestQuery) -> NewestScreenshots:
    """The newest picture of each of these displays."""
    with call.transaction() as (connection, _):
        items = store.newest(connection, query.client)
    return NewestScreenshots(items=items)


@routes.get(
    "/screenshots/<id:screenshot_id>",
    role=Role.OPERATOR,
    bound=Bound.CLIENTS,
    produces=(JPEG,),
    raises=(ScreenshotNotFound,),
)
def screenshot(call: Call, screenshot_id: int) -> Response:
    """One picture. The audit log gets a line an hour of each display that somebody looks at."""
    with call.transaction() as (connection, _):
        found = operations.find_jpeg(connection, screenshot_id)
    actor, details = call.principal.actor, {"screenshot_id": screenshot_id}
    with door.transaction(call.services.engine) as connection:
        now = door.database_now(connection)
        line = AuditLine(actor, "screenshot.look", found.client_uuid, "done", call.request_id, details)
        access.record_often(connection, now, line, of_each_target=True)
    headers = {"Content-Security-Policy": OTHERS_POLICY}  # and no-store: no browser may show it after a sign-out
    return Response(found.jpeg, content_type=JPEG, headers=headers)


@routes.get("/screenshot-policy", role=Role.VIEWER, bound=Bound.LISTS)
def screenshot_policy(call: Call) -> ScreenshotPolicy:
    """The sites whose screens nobody may see."""
    with call.transaction() as (connection, _):
        return ScreenshotPolicy(sites_off=store.sites_off(connection))


@routes.put("/screenshot-policy", role=Role.ADMIN, bound=Bound.LISTS)
def set_screenshot_policy(call: Call, body: SitePolicy) -> ScreenshotPolicy:
    """Let people see the screens of a site, or nobody. The pictures that were kept of it are forgotten."""
    with call.transaction() as (connection, now):
        call.check_site(body.site)
        forgotten = operations.allow(connection, now, body.site, call.principal.actor, allowed=body.allowed)
        facts = {"allowed": body.allowed, "forgotten": forgotten}
        call.audit(connection, now, "screenshot.policy", body.site, **facts)
        return ScreenshotPolicy(sites_off=store.sites_off(connection))


SENT: Final[Mapping[str, Any]] = {
    "role": PUBLIC,
    "bound": Bound.NONE,
    "statuses": {201: "Stored, now or before"},
    "raises": (
        *PICTURES.refusals,
        InvalidIdentity,
        ScreenshotNotWanted,
        ScreenshotsOff,
        UnsupportedMediaType,
        UploadTooLarge,
        DatabaseUnavailable,
    ),
    "takes": JPEG,
    "headers": {"Authorization": LOGIN},
}


@routes.post("/display/screenshots/<uuid:command_id>", **SENT)
def answer_screenshot(call: Call, command_id: str, query: AnswerPicture) -> Reply[None]:
    """A display sends the picture of its own screen that a command waits for."""
    with _from_display(call) as (connection, now, uuid, picture):
        age = timedelta(seconds=query.age_seconds)
        news = operations.store_asked(connection, now, uuid, command_id, age, picture)
    log_news(news)
    return Reply(None, 201)


@routes.post("/display/screenshots", **SENT)
def send_earlier_screenshot(call: Call, query: EarlierPicture) -> Reply[None]:
    """A display sends one of the last pictures of its own screen before a failure."""
    with _from_display(call) as (connection, now, uuid, picture):
        age = timedelta(seconds=query.age_seconds)
        operations.store_before_failure(connection, now, uuid, query.place, age, picture)
    return Reply(None, 201)


@contextmanager
def _from_display(call: Call) -> Iterator[tuple[Connection, datetime, str, Picture]]:
    """A transaction in which a display, whose login was right, sends a picture.

    The login is judged before the display takes a turn: a stranger takes none. It is judged again after the picture has
    come, because it may have been withdrawn meanwhile.
    """
    if call.request.mimetype != JPEG:
        raise UnsupportedMediaType("body_must_be_picture", facts={"content_type": JPEG})
    uuid, password = _login(call)
    with call.transaction() as (connection, _):
        enrolment_operations.check_login(connection, uuid, password)
    with PICTURES.turn(uuid):
        picture = rules.read_jpeg(call.request.stream.read(rules.LARGEST_BYTES + 1))
        with call.transaction() as (connection, now):
            enrolment_operations.check_login(connection, uuid, password)
            yield connection, now, uuid, picture
            details = {"address": call.address}
            line = AuditLine(f"display:{uuid}", "screenshot.send", uuid, "done", call.request_id, details)
            access.record_often(connection, now, line)


def _login(call: Call) -> tuple[str, str]:
    """The display's uuid and password. Raises InvalidIdentity."""
    scheme, _, told = call.request.headers.get("Authorization", "")[:1024].partition(" ")
    try:
        uuid, colon, password = base64.b64decode(told.strip(), validate=True).decode("ascii").partition(":")
    except (binascii.Error, ValueError):
        uuid, colon, password = "", "", ""
    if scheme.lower() != "basic" or not colon:
        raise InvalidIdentity("display_login_missing")
    return door.scrub(uuid).lower(), password
