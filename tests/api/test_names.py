"""Names over HTTP: folded at the door wherever one is said, and a site that is renamed takes everything along."""

import secrets
from collections.abc import Iterator
from typing import Any

import pytest
import sqlalchemy as sa
from flask import Flask
from msgspec import inspect
from sqlalchemy import Engine

from functions.api.folding import with_folded_names
from functions.api.routes import ALL
from shared.access import operations as access
from shared.tables import users
from tests.api.accounts import audited
from tests.api.people import Api, add_user, sign_in
from tests.stores.commands_world import new_client

TYPED, NAME = " Ko\u0308ln \u200b Su\u0308d ", "Köln Süd"
IDENTIFY = {"site", "sites", "tag", "tags", "add_tags", "remove_tags", "username", "q"}
NO_NAMES = {"GET /api/client-logs/feed q", "GET /api/client-logs/<uuid:uuid>/logs q"} | {
    f"POST /api/users{what} username"
    for what in ("", "/<id:user_id>/reset-password", "/<id:user_id>/reset-second-factor")
}
"""A search in log lines is for their text as it is; a new sign-in name has letters that are written in one way only."""


@pytest.fixture
def shop() -> str:
    return f"Shop {secrets.token_hex(4)}"


def fields_of(shape: Any) -> Iterator[tuple[str, inspect.Type]]:
    """Every field of a request's shape and of the shapes inside."""
    info = inspect.type_info(shape) if not isinstance(shape, inspect.Type) else shape
    if isinstance(info, inspect.Metadata | inspect.ListType):
        yield from fields_of(info.type if isinstance(info, inspect.Metadata) else info.item_type)
    elif isinstance(info, inspect.UnionType):
        for part in info.types:
            yield from fields_of(part)
    elif isinstance(info, inspect.StructType):
        for field in info.fields:
            yield field.encode_name, field.type
            yield from fields_of(field.type)


def test_whatever_identifies_is_folded_in_every_request() -> None:
    """By the name of the field: a new route cannot forget it."""
    said = {
        f"{endpoint.method} {endpoint.path} {name}": shape
        for routes in ALL
        for endpoint in routes.endpoints
        for shape in (endpoint.body, endpoint.query)
        if shape is not None
        for name, _ in fields_of(shape)
        if name in IDENTIFY
    }
    unfolded = {where for where, shape in said.items() if not _folds(shape, where.rsplit(" ", 1)[1])}

    assert len(said) > 20
    assert unfolded <= NO_NAMES


def _folds(shape: Any, name: str) -> bool:
    values: list[Any] = [{name: TYPED}, {name: [TYPED]}, {"filter": {name: TYPED}}]
    return any(NAME in str(with_folded_names(value, shape)) for value in values)


def test_a_display_is_found_by_every_way_to_write_its_site_and_tags(api: Api, engine: Engine) -> None:
    uuid = new_client(engine)
    facts = {"site": TYPED, "tags": [" wall", "wall ", "su\u0308d"], "name": "Lobby\n 1"}

    written = api.ask("PATCH", f"/api/clients/{uuid}", role="operator", json=facts).get_json()

    assert (written["site"], written["name"]) == (NAME, "Lobby 1")
    assert written["tags"] == ["wall", "süd"]
    for query in ({"site": TYPED}, {"site": NAME}, {"tag": "süd "}, {"q": "ko\u0308ln  sü"}, {"q": "Lobby 1"}):
        items = api.get("/api/clients", query_string=query).get_json()["items"]
        assert [item["uuid"] for item in items] == [uuid], query


@pytest.mark.parametrize("name", ["", " ", "\u200b", "\t\u2800", "x" * 101, "x" + 100 * "\u200b"])
def test_a_name_of_which_nothing_is_left_or_that_is_too_long_is_refused(api: Api, name: str) -> None:
    answer = api.ask("POST", "/api/status-links", json={"name": "manager", "site": name})

    assert (answer.status_code, answer.get_json()["detail"]) == (
        400,
        "site: expected a text of 1 to 100 characters.",
    )


def test_a_right_at_a_site_holds_however_the_site_was_typed(api: Api, engine: Engine, shop: str) -> None:
    uuid = new_client(engine, site=shop)
    issued = api.ask(
        "POST", "/api/tokens", json={"name": "t", "role": "viewer", "sites": [f"{shop} ", f"\u200b{shop}"]}
    )

    assert issued.get_json()["sites"] == [shop]
    seen = api.get("/api/clients", token=issued.get_json()["token"]).get_json()["items"]
    assert [one["uuid"] for one in seen] == [uuid]


# --- people ---


def test_a_password_works_composed_and_decomposed(app: Flask, engine: Engine) -> None:
    name = f"anna-{secrets.token_hex(4)}"
    add_user(engine, name)
    with engine.begin() as connection:
        hashed = access.hash_password("gru\u0308ne\u00a0Wiese hinterm Haus")
        connection.execute(sa.update(users).where(users.c.username == name).values(password_hash=hashed))

    for typed in ("grüne Wiese hinterm Haus", "gru\u0308ne Wiese hinterm Haus"):
        assert sign_in(app, f" {name}\u200b", typed).status_code == 201
    assert sign_in(app, name, "grüne Wiese hinterm Haus ").status_code == 401


def test_a_password_of_before_works_as_it_was_typed_then(app: Flask, engine: Engine) -> None:
    name, typed = f"ben-{secrets.token_hex(4)}", "gru\u0308ne Wiese hinterm Haus"
    add_user(engine, name)
    with engine.begin() as connection:
        hashed = access._hasher().hash(typed)
        connection.execute(sa.update(users).where(users.c.username == name).values(password_hash=hashed))

    assert sign_in(app, name, typed).status_code == 201
    assert not access.password_is_right(None, typed)


# --- a site ---


def test_a_renamed_site_takes_rights_and_links_along_and_is_audited(api: Api, engine: Engine, shop: str) -> None:
    uuid = new_client(engine, site=shop)
    token = api.ask("POST", "/api/tokens", json={"name": "t", "role": "viewer", "sites": [shop]}).get_json()["token"]
    api.ask("POST", "/api/status-links", json={"name": "manager", "site": shop})

    answer = api.ask("POST", "/api/sites/rename", json={"site": shop, "to": f" {shop}  Süd"}).get_json()

    assert answer == {
        **dict.fromkeys(("people", "channels", "quiet_times", "opening_hours_ended", "schedules"), 0),
        "site": f"{shop} Süd",
        "displays": 1,
        "tokens": 1,
        "status_links": 1,
        "people_of_provider": 0,
    }
    assert api.get("/api/session", token=token).get_json()["principal"]["sites"] == [f"{shop} Süd"]
    assert [one["uuid"] for one in api.get("/api/clients", token=token).get_json()["items"]] == [uuid]
    assert audited(api, f"site:{shop}") == [("site.rename", "token")]


def test_a_name_that_exists_needs_a_merge(api: Api, engine: Engine, shop: str) -> None:
    for site in (shop, f"{shop} Süd"):
        new_client(engine, site=site)
    wanted = {"site": shop, "to": f"{shop} Süd"}

    refused = api.ask("POST", "/api/sites/rename", json=wanted)
    merged = api.ask("POST", "/api/sites/rename", json={**wanted, "merge": True})
    again = api.ask("POST", "/api/sites/rename", json={**wanted, "merge": True})

    assert (refused.status_code, refused.get_json()["code"]) == (409, "site_exists")
    assert merged.get_json()["displays"] == 1
    assert (again.status_code, again.get_json()["code"]) == (404, "site_not_found")


@pytest.mark.parametrize("way", ["one", "many", "delete"])
def test_whatever_names_a_site_says_that_no_display_is_there(api: Api, engine: Engine, shop: str, way: str) -> None:
    uuid = new_client(engine, site=shop)
    person = f"cora-{secrets.token_hex(4)}"
    zone = {"time_zone": "UTC", "at": "2030-01-01T00:00:00Z"}
    made = {
        "users": {"username": person, "role": "viewer", "sites": [shop, "Elsewhere"]},
        "tokens": {"name": person, "role": "viewer", "sites": [shop]},
        "notifications/channels": {"name": person, "kind": "webhook", "url": "https://a.example", "sites": [shop]},
        "status-links": {"name": person, "site": shop},
        "schedules": {"action": "restart_app", "filter": {"site": shop}, **zone},
    }
    for path, body in made.items():
        assert api.ask("POST", f"/api/{path}", json=body).status_code == 201, path
    assert shop not in {site for path in made for site in _empty(api, path)}

    if way == "one":
        api.ask("PATCH", f"/api/clients/{uuid}", json={"site": None})
    elif way == "many":
        api.ask("PATCH", "/api/clients", json={"clients": [uuid], "site": "Elsewhere too"})
    else:
        api.ask("DELETE", f"/api/clients/{uuid}")

    for path in made:
        assert shop in _empty(api, path), path
    assert audited(api, f"site:{shop}") == [("site.emptied", "token")]


def _empty(api: Api, path: str) -> list[str]:
    """The sites without displays that the items of a list name."""
    items = api.get(f"/api/{path}", role="admin", query_string={"limit": 100}).get_json()["items"]
    return [site for item in items for site in item["empty_sites"]]


def test_a_person_of_two_sites_who_empties_one_says_so_too(api: Api, engine: Engine, shop: str) -> None:
    """Whoever sees these sites only writes down what they cannot read."""
    uuid = new_client(engine, site=shop)
    wanted = {"name": "t", "role": "operator", "sites": [shop, f"{shop} 2"]}
    token = api.ask("POST", "/api/tokens", json=wanted).get_json()["token"]

    assert api.ask("PATCH", f"/api/clients/{uuid}", token=token, json={"site": f"{shop} 2"}).status_code == 200

    assert audited(api, f"site:{shop}") == [("site.emptied", "token")]


def test_a_display_that_moves_between_names_of_nothing_is_no_line_of_the_audit(
    api: Api, engine: Engine, shop: str
) -> None:
    uuid = new_client(engine, site=shop)

    api.ask("PATCH", f"/api/clients/{uuid}", json={"site": f"{shop} Süd"})

    assert audited(api, f"site:{shop}") == []


def test_an_operator_and_a_person_of_one_site_rename_none(api: Api, engine: Engine, shop: str) -> None:
    new_client(engine, site=shop)
    of_shop = api.ask("POST", "/api/tokens", json={"name": "t", "role": "admin", "sites": [shop]}).get_json()["token"]
    wanted = {"site": shop, "to": f"{shop} Süd"}

    assert api.ask("POST", "/api/sites/rename", role="operator", json=wanted).status_code == 403
    assert api.ask("POST", "/api/sites/rename", token=of_shop, json=wanted).status_code == 403
