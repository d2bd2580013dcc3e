"""A client of signed uploads, as scripts are one: it plans, begins, sends, asks how far it is, and completes."""

import secrets
from pathlib import Path
from typing import Any

from sqlalchemy import Engine
from werkzeug.test import TestResponse

from functions.api.app import create_app
from functions.api.services import Services
from shared.config import Config
from tests.api.people import Api

PATH = "/api/event-media/signed-uploads"
FILM = b"\0\0\0\x18ftypisom\0\0\2\0isomiso2" + bytes(range(256)) * 400


def api_with(configuration: Config, engine: Engine, **values: Any) -> Api:
    """The API with these settings, and a key to sign with."""
    settings = {**configuration.values, "SIGNING_KEY": secrets.token_hex(32), **values}
    return Api(create_app(Services(Config(settings), engine)), engine)


def plan(api: Api, name: str = "film.mp4", content: bytes = FILM, **fields: Any) -> dict[str, Any]:
    answer = api.post(PATH, json={"filename": name, "bytes": len(content), **fields})
    assert answer.status_code == 201, answer.text
    planned: dict[str, Any] = answer.get_json()
    return planned


def begin(api: Api, planned: dict[str, Any]) -> str:
    """As a client does, without signing in: the session's address."""
    answer = api.ask(planned["method"], planned["url"], None, headers=planned["headers"])
    assert answer.status_code == 201, answer.text
    return str(answer.headers["Location"])


def put(api: Api, session: str, content: bytes, first: int | None = None, total: int = len(FILM)) -> TestResponse:
    said = {} if first is None else {"Content-Range": f"bytes {first}-{first + len(content) - 1}/{total}"}
    return api.ask("PUT", session, None, data=content, headers=said)


def how_far(api: Api, session: str, total: int = len(FILM)) -> TestResponse:
    return api.ask("PUT", session, None, headers={"Content-Range": f"bytes */{total}"})


def complete(api: Api, planned: dict[str, Any]) -> TestResponse:
    return api.post(f"{PATH}/{planned['id']}/complete")


def files_of(planned: dict[str, Any], media_root: Path) -> list[Path]:
    """What lies there of this upload, and of any that is being looked at."""
    folders = (f"uploads/{planned['id']}", "incoming")
    return [path for folder in folders for path in (media_root / folder).rglob("*") if path.is_file()]
