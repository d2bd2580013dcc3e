"""A box: its refusals, the settings of each service, and both real doors."""

import http.client
import json
import os
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from paho.mqtt.client import Client
from paho.mqtt.enums import CallbackAPIVersion, MQTTProtocolVersion
from paho.mqtt.reasoncodes import ReasonCode

from deploy.box.box import DEFAULTS, Box
from deploy.box.setup import set_up
from deploy.parts import broker as mosquitto
from deploy.parts import database_roles
from deploy.parts import gateway as nginx
from deploy.parts.components import OF_A_BOX
from deploy.parts.layout import LOOPBACK, REPOSITORY, BadSetting, write_file
from deploy.parts.probes import accepts, connect_code, wait_until
from deploy.parts.short_lived import running
from shared.config import BY_NAME, load
from shared.outside import tls
from tests.deploy.certificates import Authority
from tests.deploy.conftest import HOST

DISPLAY, SECRET = "0b6c1ad0-3f0c-4d44-9d3d-2d5f0a3f2b11", "a display's own secret"
NOT_AUTHORIZED = 0x87
FOR_A_WEBSOCKET = {
    "Connection": "Upgrade",
    "Upgrade": "websocket",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
    "Sec-WebSocket-Protocol": "mqtt",
}


def become(service: str) -> tuple[str, ...]:
    """The command line of a service, as in systemd and Docker."""
    return (sys.executable, "-m", "deploy.box.run", service)


@pytest.mark.parametrize("missing", ["BOX_HOST", "BOX_CERTIFICATE_FILE", "BOX_KEY_FILE"])
def test_a_box_without_its_certificate_or_name_refuses_its_setup_and_names_which(
    missing: str, without: Callable[[str], dict[str, str]]
) -> None:
    with pytest.raises(BadSetting, match=f"^{missing} is not set"):
        set_up(Box(without(missing)))


@pytest.mark.parametrize("service", ["broker", "gateway", "browsers-door"])
def test_no_door_is_opened_without_a_certificate(
    service: str, without: Callable[[str], dict[str, str]], environ: dict[str, str]
) -> None:
    set_up(Box(environ))
    is_remote = {"BOX_REMOTE_SERVICES": "1"} if service == "browsers-door" else {}

    ended = subprocess.run(
        become(service),
        env={"PATH": os.environ["PATH"], **without("BOX_CERTIFICATE_FILE"), **is_remote},
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=False,
    )

    assert ended.returncode == 2
    assert ended.stderr.startswith(f"{service}: BOX_CERTIFICATE_FILE is not set")
    assert not any(
        accepts(int(environ[port]))() for port in ("GATEWAY_PORT", "MQTT_DISPLAYS_PORT", "MQTT_BROWSERS_PORT")
    )


def test_a_key_of_another_certificate_is_refused(environ: dict[str, str], authority: Authority) -> None:
    _, foreign = authority.sign("other.test")

    with pytest.raises(BadSetting, match=r"^BOX_KEY_FILE: .* does not belong to"):
        Box({**environ, "BOX_KEY_FILE": str(foreign)}).check_tls()


def test_a_key_that_everybody_can_read_is_refused(environ: dict[str, str]) -> None:
    Path(environ["BOX_KEY_FILE"]).chmod(0o644)

    with pytest.raises(BadSetting, match=r"^BOX_KEY_FILE: .* is open to everybody"):
        Box(environ).check_tls()


def test_a_certificate_for_another_name_is_refused(environ: dict[str, str]) -> None:
    with pytest.raises(BadSetting, match=r"^BOX_CERTIFICATE_FILE: .* is not for signage\.test"):
        Box({**environ, "BOX_HOST": "signage.test"}).check_tls()


def test_a_certificate_is_refused_from_the_moment_that_it_ends(environ: dict[str, str], authority: Authority) -> None:
    authority.sign(HOST, timedelta(minutes=5))
    now = datetime.now(UTC)

    Box(environ).check_tls(now + timedelta(minutes=4))
    with pytest.raises(BadSetting, match=r"^BOX_CERTIFICATE_FILE: .* is good until"):
        Box(environ).check_tls(now + timedelta(minutes=6))


def test_setting_up_again_keeps_every_secret(environ: dict[str, str]) -> None:
    box = Box(environ)
    set_up(box)
    before = {path.name: path.read_bytes() for path in box.layout.secrets.iterdir()}

    set_up(Box(environ))

    assert {path.name: path.read_bytes() for path in box.layout.secrets.iterdir()} == before
    assert all(path.stat().st_mode & 0o077 == 0 for path in (*box.layout.secrets.iterdir(), box.layout.secrets))


def test_secrets_that_a_vault_wrote_before_the_setup_are_kept_and_used(environ: dict[str, str], tmp_path: Path) -> None:
    vault, box = Box({**environ, "LOCAL_STATE_DIR": str(tmp_path / "vault")}), Box(environ)
    set_up(vault)
    written = {path.name: path.read_text(encoding="utf-8") for path in vault.layout.secrets.iterdir()}
    given = {name: secret for name, secret in written.items() if not name.startswith("database_url")}
    box.layout.secrets.mkdir(mode=0o700, parents=True)
    for name, secret in given.items():
        write_file(box.layout.secrets / name, secret)

    set_up(box)

    assert {path.name: path.read_text(encoding="utf-8") for path in box.layout.secrets.iterdir()} == written


def test_passwords_of_roles_that_cannot_be_read_are_named_and_kept(environ: dict[str, str]) -> None:
    box = Box(environ)
    set_up(box)
    kept = box.layout.secrets / database_roles.PASSWORDS
    kept.write_text("half a li", encoding="utf-8")

    with pytest.raises(BadSetting, match=f"{kept} is not JSON"):
        set_up(Box(environ))

    assert kept.read_text(encoding="utf-8") == "half a li"


def test_a_start_names_what_looks_like_a_setting_and_is_none(environ: dict[str, str]) -> None:
    """Otherwise a misspelt switch, or one of an older version, is ignored in silence."""
    of_an_older_version = {"HEARTBEAT_CALM_SECONDS": "600", "SCREENSHOT_RETENTION_DAYS": "14"}
    misspelt = {"SECOND_FACTOR_REQUIERD": "admins"}
    right = {
        "SECOND_FACTOR_REQUIRED": "admins",
        "SSO_CLIENT_SECRET_FILE": "/dev/null",
        "HTTPS_PROXY": "",
        "INVOCATION_ID": "1",
    }
    given = {"PATH": os.environ["PATH"], **environ, **right, **misspelt, **of_an_older_version}

    ended = subprocess.run(become("migrations"), env=given, cwd=REPOSITORY, capture_output=True, text=True, check=False)

    called = " or ".join(sorted(misspelt | of_an_older_version))
    assert ended.stderr.splitlines()[0] == f"No setting of this version is called {called} (docs/reference.md)."


def test_a_service_loads_no_database_library_to_learn_what_it_is() -> None:
    command = "import sys, deploy.box.run; print({'sqlalchemy', 'pg8000', 'alembic', 'grpc'} & set(sys.modules))"

    done = subprocess.run([sys.executable, "-c", command], cwd=REPOSITORY, check=True, capture_output=True, text=True)

    assert done.stdout == "set()\n", "a dozen services start at once: each such library is seconds of a box's start"


def test_each_service_is_told_what_box_mode_needs_and_no_secret_by_value(environ: dict[str, str]) -> None:
    box = Box(environ)
    set_up(box)

    for name, component in OF_A_BOX.items():
        if not component.program or component.once:
            continue
        told = dict(box.service(name).environment or {})

        configuration = load(told)  # raises an error for an invalid value
        assert configuration["DEPLOYMENT_MODE"] == "box"
        own = f"postgresql://signage_{name.replace('-', '_')}:"
        assert ("DATABASE_URL_FILE" in told) == bool(component.role)
        assert not component.role or configuration["DATABASE_URL"].startswith(own)
        assert configuration["DISPLAYS_MQTT_URL"] == f"mqtts://{HOST}:{box.ports['MQTT_DISPLAYS_PORT']}"
        assert configuration["PUBLIC_URL"] == f"https://{HOST}:{box.ports['GATEWAY_PORT']}"
        assert told["HOST"] == LOOPBACK
        assert not [setting for setting in told if setting in BY_NAME and BY_NAME[setting].secret]
        assert ("MQTT_PASSWORD_FILE" in told) == bool(component.user)


@contextmanager
def started(box: Box, environ: dict[str, str], service: str, port: str, tmp_path: Path) -> Iterator[None]:
    """One service, started as systemd and Docker start it."""
    ready = accepts(box.ports[port])
    log = tmp_path / f"{service}.log"
    user = mosquitto.system_user()  # if root runs the tests: mosquitto would drop root and lose access to its files
    with running(become(service), ready, log, user=user, environment={"PYTHONPATH": str(REPOSITORY), **environ}):
        yield


@pytest.fixture
def box(environ: dict[str, str]) -> Box:
    """A set-up box, with one display's login at its broker."""
    made = Box(environ)
    set_up(made)
    made.broker.run.mkdir(exist_ok=True)
    write_file(made.broker.displays_password_file, mosquitto.password_lines({DISPLAY: SECRET}))
    return made


def connect_by_tls(port: int, context: ssl.SSLContext, user: str, password: str, path: str = "") -> int:
    """Connect. Returns the broker's reason code. With a `path` by WebSocket."""
    codes: list[int] = []

    def answered(_client: Client, _data: object, _flags: object, code: ReasonCode, _properties: object) -> None:
        codes.append(code.value)

    version, protocol = CallbackAPIVersion.VERSION2, MQTTProtocolVersion.MQTTv5
    client = Client(version, user, protocol=protocol, transport="websockets" if path else "tcp")
    client.username_pw_set(user, password)
    client.tls_set_context(context)
    client.ws_set_options(path, {"Host": HOST, "Origin": f"https://{HOST}"})
    client.on_connect = answered
    client.connect(LOOPBACK, port)
    deadline = time.monotonic() + 60
    while not codes and time.monotonic() < deadline:
        client.loop(0.1)
    client.disconnect()
    client.loop(0.1)
    return codes[0]


def test_a_display_connects_by_tls_and_nobody_without_it_or_without_a_login(
    box: Box, environ: dict[str, str], authority: Authority, tmp_path: Path
) -> None:
    trusting = tls.trusting(authority.ca_file.read_text(encoding="ascii"))
    displays = box.ports["MQTT_DISPLAYS_PORT"]

    with started(box, environ, "broker", "MQTT_DISPLAYS_PORT", tmp_path):
        assert connect_by_tls(displays, trusting, DISPLAY, SECRET) == 0
        assert connect_by_tls(displays, trusting, DISPLAY, "a guess") == NOT_AUTHORIZED
        with socket.create_connection((LOOPBACK, displays)) as raw, pytest.raises(ssl.SSLCertVerificationError):
            ssl.create_default_context().wrap_socket(raw, server_hostname=LOOPBACK)
        assert connect_code(displays, DISPLAY, SECRET) is None, "plain MQTT was answered at the displays' door"
        services = box.ports["MQTT_SERVICES_PORT"]  # a listener that stays plain, on loopback
        wait_until(lambda: connect_code(services, "api", _password(box, "api")) == 0, 60)


def _password(box: Box, user: str) -> str:
    return (box.layout.secrets / f"mqtt_{user}_password").read_text(encoding="utf-8").strip()


def _mosquitto_conf(box: Box) -> list[str]:
    return mosquitto.configuration(box.broker, box.displays, box.services).splitlines()


def test_only_the_two_doors_leave_loopback(box: Box) -> None:
    listens = [line for line in _mosquitto_conf(box) if line.startswith("listener ")]
    serves = [
        line.strip() for line in nginx.files(box.gateway, box.people)["nginx.conf"].splitlines() if "listen " in line
    ]

    ports = box.ports
    assert sorted(listens) == sorted(
        [f"listener {ports['MQTT_DISPLAYS_PORT']} 0.0.0.0", f"listener {ports['MQTT_SERVICES_PORT']} {LOOPBACK}"]
    )
    assert serves == [
        f"listen 0.0.0.0:{ports['GATEWAY_PORT']} ssl default_server;",
        f"listen 0.0.0.0:{ports['GATEWAY_PORT']} ssl;",
    ]


def test_a_broker_for_services_elsewhere_opens_both_listeners_behind_tls(environ: dict[str, str]) -> None:
    remote = Box({**environ, "BOX_REMOTE_SERVICES": "1"})

    lines = _mosquitto_conf(remote)

    doors = [number for number, line in enumerate(lines) if line.startswith("listener ")]
    assert len(doors) == 2
    assert all(lines[number].endswith(" 0.0.0.0") for number in doors)
    assert all(lines[number + 1] == f"certfile {environ['BOX_CERTIFICATE_FILE']}" for number in doors)


def test_a_browser_comes_by_tls_where_the_gateway_is_on_another_machine(
    box: Box, environ: dict[str, str], authority: Authority, tmp_path: Path
) -> None:
    """As in the cloud, where a load balancer stands before the door, and asks whether it lives."""
    trusting = tls.trusting(authority.ca_file.read_text(encoding="ascii"))
    remote, port = {**environ, "BOX_REMOTE_SERVICES": "1"}, box.ports["MQTT_BROWSERS_PORT"]

    with (
        started(box, remote, "broker", "MQTT_SERVICES_PORT", tmp_path),
        started(box, remote, "browsers-door", "MQTT_BROWSERS_PORT", tmp_path),
    ):
        assert connect_by_tls(port, trusting, DISPLAY, SECRET, "/mqtt") == 0
        assert connect_by_tls(port, trusting, DISPLAY, "a guess", "/mqtt") == NOT_AUTHORIZED
        assert _get(port, trusting, "any.test", "/healthz")[0] == 200
        assert _get(port, trusting, HOST, "/")[0] == 400
        assert connect_code(port, DISPLAY, SECRET) is None, "the door answered without TLS"


def test_the_door_for_browsers_speaks_with_no_broker_of_another_certificate(
    box: Box, environ: dict[str, str], authority: Authority, tmp_path: Path
) -> None:
    trusting = tls.trusting(authority.ca_file.read_text(encoding="ascii"))
    remote, port = {**environ, "BOX_REMOTE_SERVICES": "1"}, box.ports["MQTT_BROWSERS_PORT"]

    with started(box, remote, "browsers-door", "MQTT_BROWSERS_PORT", tmp_path):
        authority.sign(HOST)  # the files have another certificate of the same name and authority from now on
        with started(box, remote, "broker", "MQTT_SERVICES_PORT", tmp_path):
            status = _get(port, trusting, HOST, "/mqtt", FOR_A_WEBSOCKET)[0]

    assert status == 502


def test_the_dashboard_comes_by_tls_under_its_name_alone(
    box: Box, environ: dict[str, str], authority: Authority, tmp_path: Path
) -> None:
    trusting = tls.trusting(authority.ca_file.read_text(encoding="ascii"))
    port = box.ports["GATEWAY_PORT"]

    with started(box, environ, "gateway", "GATEWAY_PORT", tmp_path):
        page, headers, body = _get(port, trusting, f"{HOST}:{port}")
        foreign, _, problem = _get(port, trusting, "elsewhere.test")

    assert page == 200
    assert b"<!doctype html>" in body.lower()
    assert headers["Strict-Transport-Security"] == "max-age=31536000; includeSubDomains"
    assert "script-src 'self'" in str(headers["Content-Security-Policy"])
    assert foreign == 421
    assert json.loads(problem)["code"] == "misdirected"


def _get(
    port: int, context: ssl.SSLContext, host: str, path: str = "/", headers: Mapping[str, str] | None = None
) -> tuple[int, http.client.HTTPMessage, bytes]:
    connection = http.client.HTTPSConnection(LOOPBACK, port, timeout=60, context=context)
    try:
        connection.request("GET", path, headers={"Host": host, **(headers or {})})
        response = connection.getresponse()
        return response.status, response.headers, response.read()
    finally:
        connection.close()


def test_whoever_deploys_can_read_what_a_box_is_told() -> None:
    document = (REPOSITORY / "docs" / "deploying.md").read_text(encoding="utf-8")
    told = {name for name in DEFAULTS if name.startswith("BOX_")} | {"BOX_HOST", "BOX_CERTIFICATE_FILE", "BOX_KEY_FILE"}

    assert [name for name in told if f"| `{name}` |" not in document] == []
    assert all(f"`{DEFAULTS[name]}`" in document for name in ("BOX_LISTEN", "LOCAL_STATE_DIR", "MEDIA_ROOT"))


@pytest.mark.parametrize(("service", "door"), [("gateway", "GATEWAY_PORT"), ("broker", "MQTT_DISPLAYS_PORT")])
def test_a_door_offers_no_suite_that_lets_a_stolen_key_open_what_was_recorded(
    box: Box, environ: dict[str, str], authority: Authority, tmp_path: Path, service: str, door: str
) -> None:
    old, sound = (tls.trusting(authority.ca_file.read_text(encoding="ascii")) for _ in range(2))
    old.maximum_version = sound.maximum_version = ssl.TLSVersion.TLSv1_2
    old.set_ciphers("ALL:!AESGCM:!CHACHA20:@SECLEVEL=0")

    with started(box, environ, service, door, tmp_path):
        with socket.create_connection((LOOPBACK, box.ports[door]), 60) as raw, pytest.raises(ssl.SSLError):
            old.wrap_socket(raw, server_hostname=LOOPBACK).close()
        with (
            socket.create_connection((LOOPBACK, box.ports[door]), 60) as raw,
            sound.wrap_socket(raw, server_hostname=LOOPBACK) as secured,
        ):
            chosen = secured.cipher()

    assert chosen is not None
    assert chosen[0].startswith("ECDHE-")


def test_each_container_is_handed_copies_of_its_own_secrets_alone(environ: dict[str, str]) -> None:
    box = Box(environ)
    for name in ("api", "postgres"):
        (box.layout.root / "secrets-of" / name).mkdir(parents=True)

    set_up(box)
    (box.layout.secrets / "sso_client_secret").write_text("of the provider\n", encoding="utf-8")
    set_up(box)

    handed = {
        folder.name: {file.name for file in folder.iterdir()} for folder in (box.layout.root / "secrets-of").iterdir()
    }
    assert handed == {"api": set(OF_A_BOX["api"].all_secrets), "postgres": {"database_password"}}
    secret = box.layout.root / "secrets-of" / "api" / "sso_client_secret"
    assert secret.read_text(encoding="utf-8") == "of the provider\n"
    assert (secret.stat().st_mode & 0o777, secret.parent.stat().st_mode & 0o777) == (0o600, 0o700)


def test_a_time_for_decks_that_compose_does_not_see_is_refused(environ: dict[str, str]) -> None:
    told = {"PATH": os.environ["PATH"], **environ, "GOTENBERG_SECONDS": "120"}
    command = (sys.executable, "-m", "deploy.box.setup")

    for seconds, code in (("120", 0), ("300", 2)):
        around = told | {"CONVERSION_DEADLINE_SECONDS": seconds}
        done = subprocess.run(command, env=around, cwd=REPOSITORY, capture_output=True, text=True, check=False)
        assert done.returncode == code, done.stderr
    assert done.stderr.startswith("setup: CONVERSION_DEADLINE_SECONDS: ")


def test_links_lead_to_the_port_that_people_use(environ: dict[str, str]) -> None:
    ports = {"GATEWAY_PORT": "8443", "BOX_PUBLIC_PORT": "443"}

    assert Box(environ | ports).dashboard_url == f"https://{HOST}"
    assert Box(environ | ports | {"BOX_PUBLIC_PORT": ""}).dashboard_url == f"https://{HOST}:8443"
