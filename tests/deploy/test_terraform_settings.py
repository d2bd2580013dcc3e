"""Terraform gives each component existing settings, all required ones, and no secret in plain text."""

import ast
import re
from pathlib import Path
from typing import Final

import pytest

from deploy.parts import components
from deploy.parts.layout import REPOSITORY
from shared import deployment
from shared.config import BY_NAME, load
from shared.errors import ConfigurationError
from tests.deploy.terraform import COMPONENTS, SETTING, root

# Variables of the platform and the libraries; all others are settings of the product.
NOT_OURS: Final = {"FUNCTION_TARGET", "FUNCTION_SOURCE", "SSL_CERT_FILE", "DASHBOARD_HOST"}


def plain_and_secret(component: str) -> tuple[set[str], set[str]]:
    """The names of a component's settings; its secrets follow from its row, by local.secrets_of."""
    call, name = root().blocks("module")[component], component.replace("_", "-")
    assert call["secrets"] == f'${{local.secrets_of["{name}"]}}'
    row = components.COMPONENTS[name]
    password = {"MQTT_PASSWORD"} if row.user else set()
    key = {"SIGNING_KEY"} if "signing_key" in row.secrets else set()
    return root().setting_names(call["environment"]), {"DATABASE_URL", *password, *key}


@pytest.mark.parametrize("component", COMPONENTS)
def test_what_a_component_is_told_are_settings_that_exist(component: str) -> None:
    plain, secret = plain_and_secret(component)

    assert plain - NOT_OURS <= set(BY_NAME)
    assert secret <= set(BY_NAME)


OF_ONE_COMPONENT: Final = {
    *("MQTT_USERNAME", "MQTT_URL", "QUEUE_URL"),  # a login each; the worker knows no broker, the bridge no queue
    *("CONVERT_WORKER_URL", "TASKS_SERVICE_ACCOUNT", "CONVERTER_URL"),
    *("SCHEDULER_TICK_URL", "SCHEDULER_SERVICE_ACCOUNT", "IAP_AUDIENCE", "TRUSTED_PROXY_HOPS", "DATABASE_POOL_SIZE"),
    *("DISPLAYS_MQTT_URL", "DISPLAYS_CA_FILE"),
    "BRIDGE_HEALTH_PORT",
}
"""Addresses and logins that only some components use. All other settings have one value everywhere."""


def test_a_setting_has_one_value_in_every_component() -> None:
    plain = {component: plain_and_secret(component)[0] - OF_ONE_COMPONENT - NOT_OURS for component in COMPONENTS}

    assert {"CRASH_RECOVERY_ENABLED", "CONVERSION_DEADLINE_SECONDS"} <= plain["api"]
    assert all(names == plain["api"] for names in plain.values()), plain
    for component in COMPONENTS:
        own = set(SETTING.findall(root().blocks("module")[component]["environment"]))
        assert own <= OF_ONE_COMPONENT | NOT_OURS, component


def test_a_setting_that_the_module_sets_is_refused_and_not_overridden_in_silence() -> None:
    validations = root().blocks("variable")["settings"]["validation"]
    refused = {name for one in validations for name in re.findall(r'"([A-Z_]+)"', one["condition"])}
    ours = set.union(*(plain | secret for plain, secret in map(plain_and_secret, COMPONENTS))) - NOT_OURS

    # A shard's topics are its own name; a box beside shards may choose either setting.
    assert ours - refused == {"MQTT_TOPIC_ROOT", "CLIENT_AUTO_REGISTER"}
    assert refused <= set(BY_NAME)


@pytest.mark.parametrize("component", COMPONENTS)
def test_secrets_come_from_secret_manager_and_nothing_else_does(component: str) -> None:
    plain, secret = plain_and_secret(component)

    assert [name for name in plain if name in BY_NAME and BY_NAME[name].secret] == []
    assert [name for name in secret if not BY_NAME[name].secret] == []


@pytest.mark.parametrize("component", COMPONENTS)
def test_a_component_is_told_all_that_it_cannot_start_without(component: str) -> None:
    required = _required(REPOSITORY / COMPONENTS[component][1])
    plain, secret = plain_and_secret(component)

    assert required
    assert required - plain - secret == set()


def _required(entry_point: Path) -> set[str]:
    """REQUIRED of an entry point, parsed and not imported, because an import would start it."""
    for node in ast.parse(entry_point.read_text(encoding="utf-8")).body:
        target = (
            node.target
            if isinstance(node, ast.AnnAssign)
            else node.targets[0]
            if isinstance(node, ast.Assign)
            else None
        )
        if isinstance(target, ast.Name) and target.id == "REQUIRED":
            assert isinstance(node, ast.Assign | ast.AnnAssign)
            assert node.value is not None
            return set(ast.literal_eval(node.value))
    return set()


@pytest.mark.parametrize("component", COMPONENTS)
def test_no_component_is_left_with_an_address_of_its_own_machine(component: str) -> None:
    plain, _ = plain_and_secret(component)
    code = "".join(file.read_text() for file in (REPOSITORY / COMPONENTS[component][0]).rglob("*.py"))
    used = set(re.findall(r'\[\s*"([A-Z_]+)"\s*\]', code))
    if "from_config" in code:
        used |= {"MQTT_URL"}
    local = {name for name in used & set(BY_NAME) if "127.0.0.1" in str(BY_NAME[name].default)}

    assert local - plain == set()


@pytest.mark.parametrize("component", COMPONENTS)
def test_values_that_are_written_down_can_be_parsed(component: str) -> None:
    literal = root().literal_settings(root().blocks("module")[component]["environment"])

    config = load({name: value for name, value in literal.items() if name in BY_NAME})

    assert config["DEPLOYMENT_MODE"] == "cloud"


@pytest.mark.parametrize("component", COMPONENTS)
def test_the_product_starts_with_what_it_is_told(component: str) -> None:
    plain, secret = plain_and_secret(component)
    literal = root().literal_settings(root().blocks("module")[component]["environment"])
    told = {name: literal.get(name) or COMPUTED.get(name, "") for name in plain | secret}
    assert told["DATABASE_URL"]

    deployment.check(load({name: value for name, value in told.items() if name in BY_NAME}), component)

    for name in (plain | secret) & set(COMPUTED):
        without = {key: value for key, value in told.items() if key in BY_NAME and key != name}
        with pytest.raises(ConfigurationError):
            deployment.check(load(without, required=(name,) if BY_NAME[name].default is None else ()), component)


# Values that Terraform computes; without any of them the product must refuse to start.
COMPUTED: Final = {
    "DATABASE_URL": "postgresql://signage:"
    + "k3" * 24
    + "@10.20.0.3:5432/signage?sslmode=verify-full&sslrootcert=system",
    "MQTT_PASSWORD": "k3" * 24,
    "MQTT_USERNAME": "bridge",
    "MQTT_URL": "mqtts://mqtt.example.com:8884",
    "QUEUE_URL": "cloudtasks:///projects/p/locations/europe-west1",
    "CONVERT_WORKER_URL": "https://signage-convert-worker-1.europe-west1.run.app",
    "SCHEDULER_TICK_URL": "https://signage-scheduler-tick-1.europe-west1.run.app",
    "CONVERTER_URL": "https://signage-converter-1.europe-west1.run.app",
    "TASKS_SERVICE_ACCOUNT": "signage-tasks@p.iam.gserviceaccount.com",
    "SCHEDULER_SERVICE_ACCOUNT": "signage-scheduler@p.iam.gserviceaccount.com",
    "IAP_AUDIENCE": "/projects/1/global/backendServices/2",
}


def test_no_secret_stands_in_the_state() -> None:
    written = {
        name: body
        for (kind, name), body in root().typed("resource").items()
        if kind == "google_secret_manager_secret_version"
    }

    public = {name for name, body in written.items() if "secret_data" in body}
    assert public == {"broker_ca", "broker_certificate"}, "these two are no secrets"
    assert all("secret_data_wo" in body for name, body in written.items() if name not in public)
    assert "password" not in root().typed("resource")["google_sql_user", "this"]
    assert not [kind for kind, _ in root().typed("resource") if kind in {"random_password", "tls_private_key"}]
