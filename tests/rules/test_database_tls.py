"""The TLS settings in DATABASE_URL, and which are refused at the start."""

from pathlib import Path

import pytest

from shared import deployment
from shared.config import load
from shared.errors import ConfigurationError

SERVER = "postgresql://signage:" + "k3" * 12 + "@10.1.2.3/signage"


@pytest.mark.parametrize(
    ("query", "why"),
    [
        ("sslmode=verify-full", "needs sslrootcert"),
        ("sslmode=verify-ca&sslrootcert=", "needs sslrootcert"),
        ("sslmode=verify-full&sslrootcert=/nowhere/ca.pem", "FileNotFoundError"),
        ("sslmode=verify-full&sslrootcert={empty}", "SSLError"),
        ("sslmode=verify-full&sslrootcert=base64:bm8gY2VydGlmaWNhdGU%3D", "no certificate that can be read"),
        ("sslmode=verify-full&sslrootcert=base64:***", "no certificate that can be read"),
        ("sslmode=verify-ca&sslrootcert=system", "needs sslmode=verify-full"),
        ("sslmode=require&sslrootcert=/etc/ca.pem", "looked at with sslmode=verify-full"),
        ("sslrootcert=/etc/ca.pem", "looked at with sslmode=verify-full"),
        ("sslmode=prefer", "sslmode is one of"),
        ("sslmode=disable", "sslmode is one of"),
    ],
)
def test_what_would_not_be_checked_is_refused_by_name(query: str, why: str, tmp_path: Path) -> None:
    empty = tmp_path / "empty.pem"
    empty.touch()

    with pytest.raises(ConfigurationError, match=why) as caught:
        load({"DATABASE_URL": f"{SERVER}?{query.format(empty=empty)}"})

    assert str(caught.value).startswith("DATABASE_URL: ")
    assert "k3k3" not in str(caught.value)


@pytest.mark.parametrize("mode", ["box", "cloud"])
def test_a_server_elsewhere_has_to_be_known(mode: str) -> None:
    told = {
        "DEPLOYMENT_MODE": mode,
        "DATABASE_URL": SERVER.replace("10.1.2.3", "127.0.0.1"),
        "MQTT_URL": "mqtts://broker.test",
        "MQTT_USERNAME": "bridge",
        "MQTT_PASSWORD": "k3" * 12,
    }

    deployment.check(load(told), "bridge")
    for said in ("require", "verify-full&sslrootcert=system"):
        deployment.check(load({**told, "DATABASE_URL": f"{SERVER}?sslmode={said}"}), "bridge")
    with pytest.raises(ConfigurationError, match="DATABASE_URL must say whom it believes"):
        deployment.check(load({**told, "DATABASE_URL": SERVER}), "bridge")
