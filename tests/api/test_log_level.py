"""A temporary log level: from the API through a real broker to a display that applies it."""

import secrets
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine

from deploy.parts.broker import RunningBroker
from displays.client.credentials import Credentials
from displays.simulated.simulated import SimulatedDisplay
from functions.api.app import create_app
from functions.api.services import Services
from shared.clients import store
from shared.config import Config
from shared.postgres.door import database_now, transaction
from shared.vocabulary import RegisteredBy
from tests.api.people import Api


@pytest.fixture
def heard(configuration: Config, engine: Engine, broker: RunningBroker) -> Iterator[Api]:
    """Callers of an app that is connected to the broker."""
    login = {"MQTT_URL": broker.broker.services_url, "MQTT_PASSWORD": broker.passwords["api"]}
    services = Services(Config({**configuration.values, **login}), engine)
    yield Api(create_app(services), engine)
    services.publisher.close()


@pytest.fixture
def identity(engine: Engine) -> str:
    """A client in the database."""
    name = str(uuid.uuid4())
    with transaction(engine) as connection:
        store.register(connection, database_now(connection), name, RegisteredBy.ENROLMENT)
    return name


@pytest.fixture
def display(broker: RunningBroker, identity: str, tmp_path: Path) -> Iterator[SimulatedDisplay]:
    """The client's display, connected."""
    password = secrets.token_urlsafe(24)
    broker.add_displays({identity: password})
    login = Credentials(identity, identity, password, "127.0.0.1", broker.broker.displays_port, False, None, "signage")
    with SimulatedDisplay(login, tmp_path / "disk") as connected:
        yield connected


def audited(api: Api, identity: str) -> list[dict[str, Any]]:
    lines = api.get("/api/audit?limit=100", "admin").get_json()["items"]
    return [line for line in lines if line["target"] == identity]


def test_a_display_logs_from_the_level_it_was_told_and_the_order_is_audited(
    heard: Api, identity: str, display: SimulatedDisplay
) -> None:
    assert not display.log("debug", "not yet")

    answer = heard.post(f"/api/clients/{identity}/log-level", json={"level": "debug", "minutes": 5})
    display.wait_until(lambda: display.display.state.log_level(display.display.now()) == "debug")

    assert answer.status_code == 202
    assert (answer.get_json()["uuid"], answer.get_json()["level"]) == (identity, "debug")
    assert display.log("debug", "now it is told")
    line = audited(heard, identity)[0]
    assert (line["action"], line["details"]) == (
        "client.log_level",
        {"level": "debug", "minutes": 5, "answered": True},
    )
    assert line["actor"].startswith("token:test operator")


def test_nothing_waits_for_a_display_that_comes_later(
    heard: Api, identity: str, display: SimulatedDisplay, tmp_path: Path
) -> None:
    heard.post(f"/api/clients/{identity}/log-level", json={"level": "debug", "minutes": 5})
    display.wait_until(lambda: display.display.state.log_level(display.display.now()) == "debug")
    display.disconnect()

    display.connect()
    display.heartbeat()

    assert display.call(lambda: display.display.state.log_level(display.display.now())) == "info"


def test_a_display_that_does_not_listen_is_a_conflict_and_nothing_was_done(heard: Api, identity: str) -> None:
    answer = heard.post(f"/api/clients/{identity}/log-level", json={"level": "debug", "minutes": 5})

    assert (answer.status_code, answer.get_json()["code"]) == (409, "client_not_listening")
    assert audited(heard, identity) == []


def test_without_a_broker_it_is_unavailable_and_nothing_was_done(api: Api, identity: str) -> None:
    answer = api.post(f"/api/clients/{identity}/log-level", json={"level": "debug", "minutes": 5})

    assert (answer.status_code, answer.get_json()["code"]) == (503, "broker_unavailable")
    assert answer.headers["Retry-After"]
    assert audited(api, identity) == []


REFUSED = [
    ({"level": "debug", "minutes": 0}, "minutes"),
    ({"level": "debug", "minutes": 1441}, "minutes"),
    ({"level": "loud", "minutes": 5}, "level"),
    ({"level": "debug"}, "minutes"),
    ({"level": "debug", "minutes": 5, "until": 3}, "until"),
]


@pytest.mark.parametrize(("body", "field"), REFUSED)
def test_an_order_that_makes_no_sense_is_refused_by_name(
    api: Api, identity: str, body: dict[str, Any], field: str
) -> None:
    answer = api.post(f"/api/clients/{identity}/log-level", json=body)

    assert (answer.status_code, answer.get_json()["errors"][0]["field"]) == (400, field)
