"""What should be on screens, over HTTP: expected, counted against what is seen, and expected no more."""

from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy import Engine

from shared.tables import client_health, clients
from tests.api.people import Api
from tests.stores.commands_world import new_client

PATH = "/api/expectations"


def expect(api: Api, **body: Any) -> dict[str, Any]:
    answer = api.ask("PUT", PATH, "operator", json=body)
    assert answer.status_code == 200, answer.text
    saved: dict[str, Any] = answer.get_json()
    return saved


@pytest.fixture(scope="module")
def shop(engine: Engine) -> str:
    """A shop with three displays: two show the menu, one a login; a fourth has not told its page."""
    displays = [new_client(engine, site="Bern") for _ in range(4)]
    with engine.begin() as connection:
        connection.execute(sa.update(clients).where(clients.c.uuid == displays[0]).values(tags=["menu board"]))
        for number, name in enumerate(("menu/1", "menu/2", "login", None)):
            page = {"kind": "page", "name": f"0000000{number}"} | (
                {"address": f"https://x.example/{name}"} if name else {}
            )
            row = {"client_uuid": displays[number], "received_at": sa.func.now(), "page": page, "body": {}}
            connection.execute(sa.insert(client_health).values(**row))
    return displays[0]


@pytest.mark.parametrize(
    ("scope", "target", "address", "words"),
    [
        ("site", "Bern", "https://x.example/menu/*", "It matches 2 of the 3 displays seen now."),
        ("site", "Bern", "https://y.example/*", "It matches none of the 3 displays seen now."),
        ("site", "Bern", "**", "It matches every page."),
        ("site", "Bern", None, "It matches every page."),
        ("tag", "menu board", "*/menu/1", "It matches 1 of the 1 display seen now."),
        ("site", "Nowhere", "*/menu/1", "No display there tells its page now."),
    ],
)
def test_what_an_expectation_matches_is_said_when_it_is_saved(
    api: Api, shop: str, scope: str, target: str, address: str | None, words: str
) -> None:
    assert expect(api, scope=scope, target=target, address=address)["words"] == words


def test_an_expectation_is_replaced_listed_taken_away_and_audited(api: Api, shop: str) -> None:
    first = expect(api, scope="client", target=shop, title="Menu")
    again = expect(api, scope="client", target=shop, title="Menu*", black=True)

    assert again["id"] == first["id"]
    mine = [one for one in api.get(PATH).get_json()["items"] if one["target"] == shop]
    assert [(one["title"], one["black"], one["address"]) for one in mine] == [("Menu*", True, None)]
    gone = [api.ask("DELETE", f"{PATH}/{again['id']}", "operator").status_code for _ in range(2)]
    assert gone == [204, 404]
    lines = api.get(f"/api/audit?target=client:{shop}", "admin").get_json()["items"]
    assert [line["action"] for line in lines] == ["expectation.delete", "expectation.write", "expectation.write"]


@pytest.mark.parametrize(
    "body", [{"scope": "fleet", "target": "x"}, {"scope": "site"}, {"scope": "site", "target": ""}]
)
def test_an_expectation_of_nobody_is_refused(api: Api, body: dict[str, Any]) -> None:
    assert api.ask("PUT", PATH, "operator", json=body).status_code == 400
