"""Settings: one list, checked when read; secrets are never shown."""

import json
import re
from pathlib import Path

import pytest

from deploy.parts.layout import REPOSITORY
from shared.config import SETTINGS, load
from shared.errors import ConfigurationError

BAD = [
    ("DEPLOYMENT_MODE", "production", "expected one of local, box, cloud"),
    ("HEARTBEAT_STALE_SECONDS", "soon", "expected a whole number"),
    ("HEARTBEAT_STALE_SECONDS", "89", "expected 90 to 86400"),
    ("CRASH_RECOVERY_ENABLED", "maybe", "expected true or false"),
    ("MQTT_URL", "http://127.0.0.1", "starts with mqtt:// or mqtts://"),
    ("MQTT_URL", "mqtt://", "no host"),
    ("MQTT_URL", "mqtt://127.0.0.1:99999", "MQTT_URL"),
    ("MQTT_TOPIC_ROOT", "a/b", "one topic level"),
    ("MQTT_TOPIC_ROOT", "#", "one topic level"),
    ("UPLOAD_LIMIT_BYTES", "-1", "expected 1 to"),
    ("SIGNING_KEY", "0123456789abcdef0123456789abcde", "32 random bytes"),  # 31 of them
    ("SIGNING_KEY", "changeme" * 8, "32 random bytes"),
    ("SSO_ISSUER", "accounts.example", "starts with http:// or https://"),
    ("SSO_ISSUER", "https://accounts.example?tenant=1", "without ? and #"),
    ("SSO_ROLES", "admins=admin", "one of viewer, operator, admin"),
    ("SSO_ROLES", '["admins"]', "one of viewer, operator, admin"),
    ("SSO_ROLES", '{"admins": "owner"}', "one of viewer, operator, admin"),
]


@pytest.mark.parametrize(("name", "value", "said"), BAD)
def test_a_bad_value_stops_the_start_and_names_the_variable(name: str, value: str, said: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        load({name: value})

    assert name in caught.value.detail
    assert said in caught.value.detail


def test_a_required_setting_that_is_missing_is_named() -> None:
    with pytest.raises(ConfigurationError, match="DATABASE_URL is not set"):
        load({}, required=("DATABASE_URL",))


SECRETS = {
    "DATABASE_URL": "postgresql://signage:hunter2@127.0.0.1/signage",
    "DATABASE_ROLE_PASSWORDS": '{"api": "0123456789abcdef"}',
    "MQTT_PASSWORD": "hunter2",
    "QUEUE_SECRET": "abcdefghijklmnopqrstuv0123456789",
    "SIGNING_KEY": "0123456789abcdefghijklmnopqrstuv",
    "SSO_CLIENT_SECRET": "hunter2",
}


def test_every_secret_comes_from_its_file_without_the_newline(tmp_path: Path) -> None:
    assert set(SECRETS) == {setting.name for setting in SETTINGS if setting.secret}
    for name, value in SECRETS.items():
        (tmp_path / name).write_text(f"{value}\n", encoding="utf-8")

        assert load({f"{name}_FILE": str(tmp_path / name)})[name] == load({name: value})[name]


@pytest.mark.parametrize("value", ["hunter2", '["0123456789abcdef"]', '{"api": "short"}', '{"api": 1234567890123456}'])
def test_passwords_of_roles_that_are_none_stop_the_start(value: str) -> None:
    with pytest.raises(ConfigurationError, match=r"DATABASE_ROLE_PASSWORDS.*expected a JSON object"):
        load({"DATABASE_ROLE_PASSWORDS": value})


def test_a_secrets_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="MQTT_PASSWORD_FILE"):
        load({"MQTT_PASSWORD_FILE": str(tmp_path / "none")})


def test_a_bad_secret_is_not_repeated_in_the_message() -> None:
    with pytest.raises(ConfigurationError) as caught:
        load({"DATABASE_URL": "mysql://root:hunter2@host/db"})

    assert "hunter2" not in caught.value.detail


def test_an_issuer_keeps_the_slash_at_its_end_and_roles_are_shown_as_json() -> None:
    config = load({"SSO_ISSUER": "https://tenant.example/", "SSO_ROLES": '{"admins": "admin"}'})

    assert config["SSO_ISSUER"] == "https://tenant.example/"
    assert json.dumps(config.describe()["SSO_ROLES"]["value"]) == '{"admins": "admin"}'


def test_what_is_shown_has_every_setting_but_the_secrets() -> None:
    shown = load({"DATABASE_URL": "postgresql://a:hunter2@h/d", "MQTT_PASSWORD": "hunter2"}).describe()

    assert set(shown) == {setting.name for setting in SETTINGS if not setting.secret}
    assert "hunter2" not in str(shown)


@pytest.mark.parametrize("language", ["de", "ja"])
def test_the_page_has_the_meaning_of_every_setting_that_is_shown_and_of_no_other(language: str) -> None:
    words = REPOSITORY / "dashboard" / "lib" / "words" / language / "setting_meanings.js"
    meant = re.findall(r"^  ([A-Z][A-Z0-9_]*):\s+\S", words.read_text(encoding="utf-8"), re.MULTILINE)

    assert sorted(meant) == sorted(load({}).describe())


def test_empty_means_not_given() -> None:
    assert load({"LOG_RETENTION_DAYS": ""})["LOG_RETENTION_DAYS"] == 30
