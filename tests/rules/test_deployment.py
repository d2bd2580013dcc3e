"""Bad configurations do not start, and the refusal names the variable; good ones start."""

from typing import Any, Final

import pytest

from functions.startup import check_deployment
from shared import deployment
from shared.config import Config, load
from shared.errors import ConfigurationError

STRONG: Final = "0f8fad5bd9cb469fa165"
HERE: Final = {"HOST": "127.0.0.1"}
BOX: Final = {
    "DEPLOYMENT_MODE": "box",
    "DATABASE_URL": f"postgresql://signage:{STRONG}@127.0.0.1/signage",
    "MQTT_USERNAME": "api",
    "MQTT_PASSWORD": STRONG,
    "QUEUE_SECRET": STRONG * 2,
    "TASKS_SERVICE_ACCOUNT": "tasks@signage.test",
    "SCHEDULER_SERVICE_ACCOUNT": "scheduler@signage.test",
}
CLOUD: Final = {
    **BOX,
    "DEPLOYMENT_MODE": "cloud",
    "DATABASE_URL": f"postgresql://signage:{STRONG}@10.1.2.3/signage?sslmode=require",
    "MQTT_URL": "mqtts://broker.example:8883",
    "QUEUE_URL": "cloudtasks:///projects/p/locations/europe-west3",
    "CONVERT_WORKER_URL": "https://convert-worker.example",
    "SCHEDULER_TICK_URL": "https://scheduler-tick.example",
    "CONVERTER_URL": "https://gotenberg.example",
    "IAP_AUDIENCE": "/projects/123/global/backendServices/456",
}
SSO: Final = {
    **BOX,
    "PUBLIC_URL": "https://signage.example",
    "SSO_ISSUER": "https://accounts.example",
    "SSO_CLIENT_ID": "signage",
    "SSO_ROLES": '{"admins": "admin"}',
}
FUNCTIONS: Final = ("api", "convert_worker", "scheduler_tick")

REFUSED: Final[list[tuple[str, dict[str, str], dict[str, str], str]]] = [
    # component, mode, changes, the named variable
    ("api", BOX, {"HOST": "0.0.0.0"}, "HOST"),
    ("convert_worker", BOX, {"HOST": "192.0.2.1"}, "HOST"),
    ("scheduler_tick", BOX, {"HOST": ""}, "HOST"),
    ("api", BOX, {"DEPLOYMENT_MODE": "local", "HOST": "::"}, "HOST"),
    ("api", BOX, {"DEPLOYMENT_MODE": "production"}, "DEPLOYMENT_MODE"),
    ("api", BOX, {"DATABASE_URL": ""}, "DATABASE_URL"),
    ("api", BOX, {"DATABASE_URL": "postgresql://signage:signage@127.0.0.1/signage"}, "DATABASE_URL"),
    ("bridge", CLOUD, {"DATABASE_URL": "postgresql://signage:short@10.1.2.3/d?sslmode=require"}, "DATABASE_URL"),
    ("api", BOX, {"MQTT_URL": "mqtt://broker.example:1884"}, "MQTT_URL"),
    ("bridge", BOX, {"MQTT_URL": "mqtt://192.0.2.7:1884"}, "MQTT_URL"),
    ("bridge", CLOUD, {"MQTT_URL": "mqtt://127.0.0.1:1884"}, "MQTT_URL"),
    ("api", CLOUD, {"MQTT_URL": "mqtt://broker.example:1883"}, "MQTT_URL"),
    ("scheduler_tick", BOX, {"MQTT_PASSWORD": ""}, "MQTT_PASSWORD"),
    ("bridge", BOX, {"MQTT_PASSWORD": "changeme-changeme-changeme"}, "MQTT_PASSWORD"),
    ("api", CLOUD, {"MQTT_PASSWORD": "a1b2c3d4"}, "MQTT_PASSWORD"),
    ("api", BOX, {"QUEUE_SECRET": ""}, "QUEUE_SECRET"),
    ("scheduler_tick", BOX, {"QUEUE_SECRET": "too short for a key"}, "QUEUE_SECRET"),
    ("scheduler_tick", BOX, {"SCHEDULER_SERVICE_ACCOUNT": ""}, "SCHEDULER_SERVICE_ACCOUNT"),
    ("scheduler_tick", BOX, {"SCHEDULER_SERVICE_ACCOUNT": "anybody"}, "SCHEDULER_SERVICE_ACCOUNT"),
    ("convert_worker", BOX, {"TASKS_SERVICE_ACCOUNT": ""}, "TASKS_SERVICE_ACCOUNT"),
    ("convert_worker", CLOUD, {"TASKS_SERVICE_ACCOUNT": "*"}, "TASKS_SERVICE_ACCOUNT"),
    ("convert_worker", CLOUD, {"CONVERT_WORKER_URL": ""}, "CONVERT_WORKER_URL"),
    ("convert_worker", CLOUD, {"CONVERTER_URL": "http://gotenberg.example"}, "CONVERTER_URL"),
    ("scheduler_tick", CLOUD, {"SCHEDULER_TICK_URL": "http://scheduler-tick.example"}, "SCHEDULER_TICK_URL"),
    ("scheduler_tick", CLOUD, {"OIDC_ISSUER": "http://accounts.example"}, "OIDC_ISSUER"),
    ("convert_worker", CLOUD, {"OIDC_ISSUER": "http://127.0.0.1:8124"}, "OIDC_ISSUER"),
    ("api", CLOUD, {"QUEUE_URL": ""}, "QUEUE_URL"),
    ("api", CLOUD, {"IAP_AUDIENCE": ""}, "IAP_AUDIENCE"),
    ("api", CLOUD, {"IAP_AUDIENCE": "my-service"}, "IAP_AUDIENCE"),
    ("api", CLOUD, {"IAP_AUDIENCE": "/projects/name/global/backendServices/456"}, "IAP_AUDIENCE"),
    ("api", BOX, {"SIGNING_KEY": "0123456789abcdef"}, "SIGNING_KEY"),
    ("api", SSO, {"SSO_ISSUER": "http://accounts.example"}, "SSO_ISSUER"),
    ("api", SSO, {"DEPLOYMENT_MODE": "local", "SSO_ISSUER": "http://accounts.example"}, "SSO_ISSUER"),
    ("api", SSO, {"SSO_CLIENT_ID": ""}, "SSO_CLIENT_ID"),
    ("api", SSO, {"SSO_ROLES": "{}"}, "SSO_ROLES"),
    ("api", SSO, {"SSO_SCOPES": "profile"}, "SSO_SCOPES"),
    ("api", SSO, {"PUBLIC_URL": ""}, "PUBLIC_URL"),
    ("api", {**SSO, **CLOUD}, {}, "SSO_ISSUER"),
]
NEEDS: Final = {
    "api": ("DATABASE_URL", "MQTT_USERNAME", "MQTT_PASSWORD", "TASKS_SERVICE_ACCOUNT"),
    "convert_worker": ("DATABASE_URL", "TASKS_SERVICE_ACCOUNT"),
    "scheduler_tick": ("DATABASE_URL", "MQTT_USERNAME", "MQTT_PASSWORD", "SCHEDULER_SERVICE_ACCOUNT"),
    "bridge": ("DATABASE_URL", "MQTT_USERNAME", "MQTT_PASSWORD"),
}


def start(component: str, environ: dict[str, str]) -> Config:
    """Read the configuration like a component's main module."""
    config = load(environ, required=NEEDS[component])
    if component == "bridge":
        deployment.check(config, component)
        return config
    check_deployment(config, component, environ)
    return config


@pytest.mark.parametrize(("component", "mode", "changed", "named"), REFUSED)
def test_it_must_not_start(component: str, mode: dict[str, str], changed: dict[str, str], named: str) -> None:
    with pytest.raises(ConfigurationError) as refusal:
        start(component, {**HERE, **mode, **changed})

    assert refusal.value.detail.startswith(named)


@pytest.mark.parametrize("mode", [BOX, CLOUD], ids=["box", "cloud"])
@pytest.mark.parametrize("component", [*FUNCTIONS, "bridge"])
def test_a_good_one_starts(component: str, mode: dict[str, str]) -> None:
    assert start(component, {**HERE, **mode})["DEPLOYMENT_MODE"] == mode["DEPLOYMENT_MODE"]


def test_people_sign_in_at_a_provider_where_the_settings_are_whole() -> None:
    assert start("api", {**HERE, **SSO})["SSO_ISSUER"] == "https://accounts.example"
    assert start("api", {**HERE, **SSO, "DEPLOYMENT_MODE": "local", "SSO_ISSUER": "http://127.0.0.1:9"})
    assert start("convert_worker", {**HERE, **SSO, "SSO_CLIENT_ID": ""})  # only the api function speaks to it


def test_in_the_cloud_a_function_listens_to_whoever_the_platform_lets_through() -> None:
    assert start("api", {**CLOUD, "HOST": "0.0.0.0"})["DEPLOYMENT_MODE"] == "cloud"
    with pytest.raises(ConfigurationError):
        start("api", {**BOX, "HOST": "0.0.0.0"})


@pytest.mark.parametrize(("component", "mode", "changed", "named"), REFUSED)
def test_no_refusal_repeats_a_secret(component: str, mode: dict[str, str], changed: dict[str, str], named: str) -> None:
    secrets: list[Any] = [changed.get("MQTT_PASSWORD"), changed.get("SIGNING_KEY"), STRONG, "signage:short", "a1b2c3d4"]
    with pytest.raises(ConfigurationError) as refusal:
        start(component, {**HERE, **mode, **changed})

    assert named in refusal.value.detail
    assert not any(secret in refusal.value.detail for secret in secrets if secret)


@pytest.mark.parametrize(
    ("host", "here"),
    [
        ("127.9.9.9", True),
        ("::1", True),
        ("::ffff:127.0.0.1", True),  # as a socket of both families writes it
        ("localhost", True),
        ("::ffff:192.0.2.1", False),
        ("64:ff9b::7f00:1", False),  # a relay's loopback
        ("::127.0.0.1", False),
        ("0.0.0.0", False),
        ("localhost.example", False),
        ("", False),
    ],
)
def test_what_is_the_loopback_of_this_machine(host: str, here: bool) -> None:
    assert deployment.is_loopback(host) is here
