"""One machine that serves a network (a box): the services of `make run` behind TLS, each started by itself.

`deploy/parts/machine.py` has the parts that a box shares with `make run`, so that both run the same services. Here are
the differences: mode `box`; two listeners for the network (HTTPS for people and scripts, MQTT over TLS for displays);
secrets in files, some for each service; and a Postgres and a supervisor (systemd, Docker) that are not ours.

Environment beside the product's settings and the ports of the local stack:
    BOX_HOST               the name by which people and displays find this machine; the certificate is for it
    BOX_CERTIFICATE_FILE   PEM: the certificate and those between it and its CA
    BOX_KEY_FILE           PEM: its private key, readable by nobody else
    BOX_LISTEN             the address of both doors (0.0.0.0)
    BOX_REMOTE_SERVICES    1: all services but the broker's run elsewhere, so the listeners for them and for the
                           gateway's browsers open too, behind TLS (0)
    BOX_PUBLIC_PORT        the port by which people reach GATEWAY_PORT, if something translates (GATEWAY_PORT)
    BOX_OWN_CA_FILE        where a CA of its own is made, which signs the certificate, if there is no certificate
    LOCAL_STATE_DIR        the folder of all state (/var/lib/signage)
"""

import ssl
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from cryptography import x509

from deploy.parts.components import PORTS
from deploy.parts.config_file import INSIDE, Certificate, Listener
from deploy.parts.layout import LOOPBACK, BadSetting
from deploy.parts.machine import Machine, at_once
from deploy.parts.probes import Probe
from deploy.parts.service import Service
from shared.config import BY_NAME

DEFAULTS: Final[Mapping[str, str]] = {
    "LOCAL_STATE_DIR": "/var/lib/signage",
    "MEDIA_ROOT": "/server/media",
    "BOX_LISTEN": "0.0.0.0",  # nosec B104 - a box serves its network; without TLS it does not start
    "BOX_REMOTE_SERVICES": "0",
    "BOX_PUBLIC_PORT": "",
    "BOX_OWN_CA_FILE": "",
    "GATEWAY_PORT": "443",
    "MQTT_DISPLAYS_PORT": "8883",
    "POSTGRES_PORT": "5432",
}
DATABASE: Final = "signage"  # the name of the database and of the role that owns it


class Box(Machine):
    """The settings of this machine, from which the command and environment of each service follow."""

    def __post_init__(self) -> None:
        """Raises BadSetting or ConfigurationError when a setting cannot be used."""
        given = {**DEFAULTS, **{k: v for k, v in self.environ.items() if v != ""}}
        if given["BOX_OWN_CA_FILE"] and Path(given["BOX_OWN_CA_FILE"]).exists():
            given.setdefault("DISPLAYS_CA_FILE", given["BOX_OWN_CA_FILE"])
        object.__setattr__(self, "environ", given)
        super().__post_init__()

    @property
    def host(self) -> str:
        """BOX_HOST. Raises BadSetting."""
        return self._given("BOX_HOST", "the name by which people and displays find this machine")

    @property
    def dashboard_url(self) -> str:
        """The dashboard's address, unless PUBLIC_URL names another one."""
        port = self.environ["BOX_PUBLIC_PORT"] or str(self.ports["GATEWAY_PORT"])
        return f"https://{self.environ.get('BOX_HOST', '')}" + ("" if port == "443" else f":{port}")

    @property
    def certificate(self) -> Path:
        """BOX_CERTIFICATE_FILE. Raises BadSetting."""
        return Path(self._given("BOX_CERTIFICATE_FILE", "box mode speaks TLS to everything that is not loopback"))

    @property
    def key(self) -> Path:
        """BOX_KEY_FILE. Raises BadSetting."""
        return Path(self._given("BOX_KEY_FILE", "box mode speaks TLS to everything that is not loopback"))

    @property
    def own_ca_file(self) -> Path | None:
        """BOX_OWN_CA_FILE, if it is set."""
        given = self.environ["BOX_OWN_CA_FILE"]
        return Path(given) if given else None

    def _given(self, name: str, why: str) -> str:
        value = self.environ.get(name)
        if not value:
            raise BadSetting(f"{name} is not set ({why}).")
        return value

    def database_url_file(self, component: str = "") -> Path:
        """The file with the address of Postgres for the owner or a component; `deploy.box.setup` makes it."""
        return self.layout.secrets / "_".join(filter(None, ("database_url", component)))

    def database_login(self, role: str) -> dict[str, str]:
        """Override the local stack's: the login is in a file that only this service can read."""
        return {"DATABASE_URL_FILE": str(self.database_url_file(role))}

    def addresses(self) -> dict[str, str]:
        """The local stack's addresses, with the box's MEDIA_ROOT."""
        return {**super().addresses(), "MEDIA_ROOT": self.environ["MEDIA_ROOT"]}

    def environment(self, **more: str) -> dict[str, str]:
        """The local stack's environment, in mode `box`, with the addresses for displays."""
        door = f"mqtts://{self.environ.get('BOX_HOST') or LOOPBACK}:{self.ports['MQTT_DISPLAYS_PORT']}"
        ours = {
            "DEPLOYMENT_MODE": "box",
            "HOST": LOOPBACK,
            "DISPLAYS_MQTT_URL": self.environ.get("DISPLAYS_MQTT_URL") or door,
        }
        theirs = {name: value for name, value in super().environment().items() if not name.startswith("BOX_")}
        return {**theirs, **ours, **more}

    def service(self, name: str, ready: Probe = at_once, **more: str) -> Service:
        """Override the machine's: two services of the broker's are told of the doors. Raises BadSetting."""
        if name == "broker-accounts":
            more["CERTIFICATE_DOORS"] = self.doors()
        elif name == "browsers-door":
            more |= self.browsers()
        return super().service(name, ready, **more)

    def browsers(self) -> dict[str, str]:
        """Where the door for browsers listens, if the gateway is on another machine. Raises BadSetting."""
        if not self.is_remote:
            return {}
        self.check_tls()
        files = {"CERTIFICATE_FILE": str(self.certificate), "KEY_FILE": str(self.key)}
        told = {"LISTEN": self.environ["BOX_LISTEN"], **files}
        return {f"MQTT_BROWSERS_{name}": value for name, value in told.items()}

    @property
    def is_remote(self) -> bool:
        """Whether the gateway and the services of the broker are on other machines."""
        return self.environ["BOX_REMOTE_SERVICES"] == "1"

    def doors(self) -> str:
        """CERTIFICATE_DOORS: the displays' door, and the people's door if it is on this machine."""
        listen = self.environ["BOX_LISTEN"]
        host = {"0.0.0.0": LOOPBACK, "::": "::1"}.get(listen, listen)  # nosec B104 - what it listens on
        names = {"displays": "MQTT_DISPLAYS_PORT", "people": "GATEWAY_PORT"}
        if self.is_remote:
            del names["people"]
        return " ".join(f"{door}={host}:{self.ports[name]}" for door, name in names.items())

    def check_tls(self, now: datetime | None = None) -> None:
        """Check the certificate and its key.

        Raises:
            BadSetting: a file is missing, open to everybody, expired, or of another key or name. Names its variable.
        """
        certificate, key, host = self.certificate, self.key, self.host
        for name, path in (("BOX_CERTIFICATE_FILE", certificate), ("BOX_KEY_FILE", key)):
            if not path.is_file():
                raise BadSetting(f"{name}: there is no file {path}.")
        if key.stat().st_mode & 0o007:
            raise BadSetting(f"BOX_KEY_FILE: {key} is open to everybody; it must be closed to others (chmod 640).")
        try:
            ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(certificate, key)
            first = x509.load_pem_x509_certificates(certificate.read_bytes())[0]
        except (OSError, ValueError) as error:
            raise BadSetting(
                f"BOX_KEY_FILE: {key} does not belong to {certificate} ({type(error).__name__})."
            ) from None
        if not first.not_valid_before_utc <= (now or datetime.now(UTC)) < first.not_valid_after_utc:
            raise BadSetting(f"BOX_CERTIFICATE_FILE: {certificate} is good until {first.not_valid_after_utc} only.")
        if not _is_for(first, host):
            raise BadSetting(f"BOX_CERTIFICATE_FILE: {certificate} is not for {host} (BOX_HOST).")

    @property
    def people(self) -> Listener:
        """The gateway's listener. Raises BadSetting."""
        return Listener(self.environ["BOX_LISTEN"], self._own_certificate(), (self.host,))

    @property
    def displays(self) -> Listener:
        """The broker's listener for displays. Raises BadSetting."""
        return Listener(self.environ["BOX_LISTEN"], self._own_certificate())

    @property
    def services(self) -> Listener:
        """The broker's listener for our own services. Raises BadSetting."""
        return self.displays if self.is_remote else INSIDE

    def _own_certificate(self) -> Certificate:
        return Certificate(self.certificate, self.key)


def unread(environ: Mapping[str, str]) -> list[str]:
    """The names that look like settings but are none: misspelt, or of another version."""
    settings = {*BY_NAME, *(f"{name}_FILE" for name in BY_NAME), *PORTS, *DEFAULTS}
    first = {name.partition("_")[0] for name in BY_NAME}
    units = ("_SECONDS", "_DAYS", "_PERCENT", "_MAX")
    return sorted(name for name in set(environ) - settings if name.partition("_")[0] in first or name.endswith(units))


def _is_for(certificate: x509.Certificate, host: str) -> bool:
    """Whether the certificate names this host, itself or by a wildcard for its first label."""
    try:
        names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        return False
    dns = {name.lower() for name in names.get_values_for_type(x509.DNSName)}
    addresses = {str(address) for address in names.get_values_for_type(x509.IPAddress)}
    return bool({host.lower(), "*." + host.lower().partition(".")[2]} & dns) or host in addresses
