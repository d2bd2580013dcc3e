"""Clients that often lose the broker, and clients that never connected, through the API."""

import sqlalchemy as sa
from sqlalchemy import Engine

from tests.api.people import Api
from tests.api.test_fleet_routes import add

LOST = sa.text(
    "INSERT INTO client_losses (client_uuid, at, since, losses)"
    " VALUES (:uuid, now() - :ago * interval '1 minute', now() - (:ago + 1) * interval '1 minute', :losses)"
)


def lose(engine: Engine, identity: str, *losses: tuple[int, int]) -> None:
    """Record losses of the broker: (minutes ago, how many)."""
    with engine.begin() as connection:
        for ago, count in losses:
            connection.execute(LOST, {"uuid": identity, "ago": ago, "losses": count})


def test_a_client_that_lost_the_broker_three_times_in_an_hour_is_unsteady(api: Api, engine: Engine) -> None:
    often, twice, before = (add(engine, name=name, site="Bern") for name in ("often", "twice", "before"))
    lose(engine, often, (50, 1), (9, 1), (2, 24))
    lose(engine, twice, (9, 1), (2, 1))
    lose(engine, before, (62, 9), (2, 1))

    answer = api.get("/api/clients/unsteady").get_json()
    found = {one["uuid"]: one for one in answer["items"]}

    assert (found[often]["losses"], found[often]["name"], found[often]["site"]) == (26, "often", "Bern")
    assert {twice, before}.isdisjoint(found)
    shown = [api.get(f"/api/clients/{one}").get_json()["unsteady_losses"] for one in (often, twice, before)]
    assert shown == [26, None, None]
    assert api.delete(f"/api/clients/{often}", "admin").status_code == 204
    assert often not in {one["uuid"] for one in api.get("/api/clients/unsteady").get_json()["items"]}


def test_a_client_says_until_when_its_unused_code_can_be_used(api: Api, engine: Engine) -> None:
    identity, without = add(engine), add(engine)
    made = api.post(f"/api/clients/{identity}/enrolment", "admin").get_json()

    assert api.get(f"/api/clients/{identity}").get_json()["code_until"] == made["expires_at"]
    assert api.get(f"/api/clients/{without}").get_json()["code_until"] is None
    assert api.post("/api/enroll", json={"code": made["code"]}).status_code == 201
    assert api.get(f"/api/clients/{identity}").get_json()["code_until"] is None
