"""The api function's app on the module's own database, without a server in between."""

import secrets
from collections.abc import Iterator
from pathlib import Path

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import Engine

from functions.api.app import create_app
from functions.api.services import Services
from shared.access import operations as access
from shared.config import Config, load
from tests import migrated
from tests.api import probe_routes
from tests.api.function_process import ENVIRONMENT, FunctionProcess, function_process
from tests.api.people import Api, add_user, cookie_of, forget_hashes, sign_in
from tests.conftest import patient_engine
from tests.local.queue_harness import QUEUE_SECRET


@pytest.fixture(scope="session", autouse=True)
def _quick_passwords() -> Iterator[None]:
    """Fast password hashing for these tests; tests/stores/test_access.py checks the shipped cost."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(access, "_PASSES", 1)
        patch.setattr(access, "_MEMORY_KIB", 8)
        forget_hashes()
        yield
    forget_hashes()


@pytest.fixture(scope="module")
def media_root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty media volume."""
    return tmp_path_factory.mktemp("media")


@pytest.fixture(scope="module")
def configuration(database_url: str, media_root: Path) -> Config:
    """The settings of an api function in mode `local`, without queue and broker (port 9)."""
    return load(
        {
            "DATABASE_URL": migrated.address_for("api", database_url),
            "MEDIA_ROOT": str(media_root),
            "MQTT_URL": "mqtt://127.0.0.1:9",
            "MQTT_USERNAME": "api",
            "MQTT_PASSWORD": "no-broker-in-this-test",
            "QUEUE_URL": "grpc://127.0.0.1:9/projects/local/locations/local",
            "QUEUE_SECRET": QUEUE_SECRET,
            "TASKS_SERVICE_ACCOUNT": "tasks@signage.test",
        }
    )


@pytest.fixture(scope="module")
def services(configuration: Config) -> Iterator[Services]:
    """The services of the app's routes, with the api's production database role."""
    with patient_engine(configuration["DATABASE_URL"]) as made:
        yield Services(configuration, made)


@pytest.fixture(scope="module")
def app(services: Services) -> Flask:
    """The api function's Flask app."""
    return create_app(services)


@pytest.fixture(scope="module")
def api(app: Flask, engine: Engine) -> Api:
    """Calls the app as viewer, operator, admin or without a login."""
    return Api(app, engine)


@pytest.fixture(scope="module")
def probe(services: Services) -> FlaskClient:
    """A client of an app with only the probe routes."""
    return create_app(services, (probe_routes.routes,)).test_client()


@pytest.fixture
def anna(engine: Engine) -> str:
    """The name of this test's own operator."""
    name = f"anna-{secrets.token_hex(4)}"
    add_user(engine, name)
    return name


@pytest.fixture
def cookie(app: Flask, anna: str) -> str:
    """The session cookie of Anna."""
    return cookie_of(sign_in(app, anna))


@pytest.fixture(scope="session")
def probe_process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FunctionProcess]:
    """A process with the probe routes."""
    with function_process("tests/api/probe_function.py", ENVIRONMENT, tmp_path_factory.mktemp("probe")) as running:
        yield running


@pytest.fixture(scope="session")
def function(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FunctionProcess]:
    """The shipped function."""
    with function_process("functions/api/main.py", ENVIRONMENT, tmp_path_factory.mktemp("api")) as running:
        yield running
