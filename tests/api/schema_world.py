"""The api function with the services that it uses, and rows of each noun in its database.

There are displays in every state, logs, failures, incidents, media, conversions, commands, batches, windows and
channels. Everything is real except the converter and the displays, for which no test waits.
"""

import json
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

import requests
import sqlalchemy as sa
from paho.mqtt.client import Client
from paho.mqtt.enums import CallbackAPIVersion, MQTTProtocolVersion
from sqlalchemy import Connection, Engine
from sqlalchemy.dialects.postgresql import insert

from deploy.parts import broker as mosquitto
from deploy.parts.layout import LOOPBACK
from shared.access import operations as access
from shared.access import second_factor_store
from shared.client_logs import operations as client_logs
from shared.client_logs.rules import LogLine
from shared.conversions import operations as conversions
from shared.conversions.report_rules import Findings
from shared.leadership import dead_letters_store
from shared.leadership.dead_letters_store import NewDeadLetter
from shared.outside.media_volume import MediaVolume, converted_path
from shared.postgres.door import database_now, engine_for, transaction
from shared.tables import (
    client_health,
    clients,
    recovery_breakers,
    scheduler_status,
    service_failure_events,
)
from shared.tables import conversions as conversions_table
from shared.vocabulary import LogLevel, Role
from shared.words.sentences import as_given, to_row
from tests import migrated
from tests.api.function_process import FunctionProcess, function_process
from tests.api.people import PASSWORD, add_user
from tests.local.queue_harness import QUEUE_SECRET, emulator
from tests.receivers import receiver
from tests.rules.provider_harness import CLIENT_ID, OUR_ADDRESS, providing
from tests.stores.incidents_world import go_silent, listen, observe, site
from tests.worker import decks
from tests.worker.hostile_pdfs import PDF

SIGNING_KEY: Final = "kept for one test, and not for longer than that"
NEVER_LATE: Final = {"shared.overview.rules.LATE_TICKS": 10_000}  # there is no ticker, so one tick is recorded
PATIENT: Final = dict.fromkeys(
    ("shared.access.rules.MOST_FAILURES", "shared.access.rules.MOST_FAILURES_OF_ACCOUNT"), 1000
)  # failed sign-ins: nearly all passwords of a tester are wrong
GIF: Final = b"GIF89a\x01\x00\x01\x00\x80\x00\x00\x00\x00\x00\xff\xff\xff!\xf9\x04\x01\x00\x00\x00\x00,\x00\x00\x00\x00"
PERSON: Final = "anna"  # they can sign in with the tests' password
SITES: Final = ("Rome", "Oslo")


@dataclass(frozen=True)
class World:
    """A running api function, and the ids of rows to request."""

    function: FunctionProcess
    engine: Engine
    volume: MediaVolume
    hook: str
    """The only address that accepts notifications."""
    token: str
    token_id: str
    displays: tuple[str, ...]
    deck: bytes

    def ask(self, method: str, path: str, **options: Any) -> requests.Response:
        """Call the API as an admin."""
        headers = {"Authorization": f"Bearer {self.token}", **options.pop("headers", {})}
        return requests.request(method, self.function.url + path, headers=headers, timeout=60, **options)

    def made(self, path: str, body: dict[str, Any] | None = None, **options: Any) -> Any:
        """POST, which must succeed. Returns the created object."""
        answer = self.ask("POST", path, json=body, **options)
        assert answer.status_code in {200, 201, 202}, f"{path}: {answer.status_code} {answer.text}"
        return answer.json()


@contextmanager
def world(folder: Path, database_url: str, broker: mosquitto.RunningBroker) -> Iterator[World]:
    """A ready api function with a broker and a database that has data."""
    with ExitStack() as running:
        engine = engine_for(database_url, "schema")
        running.callback(engine.dispose)
        volume = MediaVolume(folder / "media")
        volume.root.mkdir(parents=True, exist_ok=True)
        queue = running.enter_context(emulator(database_url, folder))
        hook = running.enter_context(receiver()).url
        provider = running.enter_context(providing())
        environment = {
            "SSO_ISSUER": provider.issuer,
            "SSO_CLIENT_ID": CLIENT_ID,
            "SSO_ROLES": '{"operators": "operator"}',
            "PUBLIC_URL": OUR_ADDRESS,
            "DATABASE_URL": migrated.address_for("api", database_url),
            "MEDIA_ROOT": str(volume.root),
            "MQTT_URL": broker.broker.services_url,
            "MQTT_USERNAME": "api",
            "MQTT_PASSWORD": broker.passwords["api"],
            "QUEUE_URL": queue.queue_url,
            "QUEUE_SECRET": QUEUE_SECRET,
            "TASKS_SERVICE_ACCOUNT": "tasks@signage.test",
            "SIGNING_KEY": SIGNING_KEY,
            "CONSTANTS": json.dumps(PATIENT | NEVER_LATE),
        }
        function = running.enter_context(function_process("tests/api_with_constants.py", environment, folder))
        with transaction(engine) as connection:
            displays = _fleet(connection, database_now(connection))
            row, token = access.issue_token(connection, database_now(connection), "tester", Role.ADMIN, "tests", None)
        decks.make_pptx(folder / "talk.pptx", 1)
        deck = (folder / "talk.pptx").read_bytes()
        made = World(function, engine, volume, hook, token, row.id, displays, deck)
        add_user(engine, PERSON)
        _fill(made)
        running.enter_context(_listening(broker, displays[-1]))
        yield made


@contextmanager
def _listening(broker: mosquitto.RunningBroker, display: str) -> Iterator[None]:
    """This display is connected and subscribed to its log level."""
    broker.add_displays({display: PASSWORD})
    client = Client(CallbackAPIVersion.VERSION2, client_id=display, protocol=MQTTProtocolVersion.MQTTv5)
    client.username_pw_set(display, PASSWORD)
    heard = threading.Event()
    client.on_subscribe = lambda *_: heard.set()
    client.connect(LOOPBACK, broker.broker.displays_port)
    client.loop_start()
    try:
        client.subscribe(f"signage/{display}/log_level", qos=1)
        assert heard.wait(60), "the broker does not take the subscription"
        yield
    finally:
        client.disconnect()
        client.loop_stop()


def _fleet(connection: Connection, now: datetime) -> tuple[str, ...]:
    """Running displays, failed ones, some that fell silent together; logs, a bridge that listens, and a tick."""
    listen(connection, now)
    connection.execute(
        sa.update(scheduler_status).values(last_tick_at=now, duration_ms=3, did={"recover": {"sent": 0}})
    )
    found = [uuid for name in SITES for uuid in site(connection, now, name, tags=["lobby"])]
    go_silent(connection, now, found[:5])
    observe(connection, now)
    failed = {"service_failed_at": now, "service_failed_unit": "player.service"}
    connection.execute(sa.update(clients).where(clients.c.uuid.in_(found[6:10])).values(**failed))
    for uuid in found[6:10]:
        event = {"client_uuid": uuid, "at": now, "event": "failed", "unit": "player.service"}
        connection.execute(sa.insert(service_failure_events).values(**event))
    lines = [
        LogLine(uuid, 1000.0, level=level, raw_level=None, message=f"{level} of the player")
        for uuid in found[:8]
        for level in LogLevel
    ]
    client_logs.record(connection, now, 1000.0, lines)
    letters = [NewDeadLetter(f"signage/{uuid}/health", "7b", 1, "0" * 64, "not_json", None, 1) for uuid in found[:3]]
    dead_letters_store.add(connection, now, letters)
    return tuple(found)


def _fill(made: World) -> None:
    """Create the objects that people and scripts create, each by its own route."""
    soon, later = (datetime.now(UTC) + timedelta(hours=hours) for hours in (1, 2))
    for number, (name, content) in enumerate([("a.pptx", made.deck), ("b.pdf", PDF), ("c.gif", GIF), ("d.pdf", PDF)]):
        uploaded = made.made("/api/event-media", files={"file": (name, content)})
        if number == 0:
            convert(made, uploaded)
    for uuid in made.displays[10:13]:
        made.made(f"/api/clients/{uuid}/commands", {"action": "restart_app", "reason": "black"})
    many = {"action": "restart_app", "clients": list(made.displays[13:16]), "waves": [1, "rest"]}
    made.made("/api/commands", many)
    for scope in ({"scope": "fleet"}, {"scope": "site", "site": "Oslo"}):
        times = {"starts_at": soon.isoformat(), "ends_at": later.isoformat()}
        made.made("/api/quiet-times", {"preset": "maintenance", **times, **scope})
        made.made("/api/quiet-times", {"preset": "snooze", "ends_at": soon.isoformat(), **scope})
    for shop in ("Oslo", "Rome"):
        planned = {"action": "restart_app", "filter": {"site": shop}, "at": later.isoformat(), "time_zone": "UTC"}
        made.made("/api/schedules", planned)
    for name in ("On call", "Night"):
        made.made("/api/notifications/channels", {"name": name, "kind": "webhook", "url": made.hook})
    for name in ("Bert", "Carla"):
        made.made("/api/users", {"username": name, "role": "operator"})
        made.made("/api/tokens", {"name": name, "role": "viewer"})
    for uuid in made.displays[16:19]:
        made.made(f"/api/clients/{uuid}/enrolment")
        named = {"scope": "clients", "clients": [uuid]}
        made.made("/api/quiet-times", {"preset": "leave_out", "reason": "being moved", **named})


def protect(made: World, user_id: int) -> None:
    """Give this person a second factor."""
    with transaction(made.engine) as connection:
        now = database_now(connection)
        second_factor_store.begin(connection, now, user_id, "a nonce")
        second_factor_store.confirm(connection, now, user_id)


def convert(made: World, uploaded: dict[str, Any]) -> None:
    """Record a finished conversion, as the worker does."""
    path = converted_path(uploaded["media"]["sha256"])
    with made.volume.writing_converted(path, "tests") as draft:
        draft.write(PDF)
    made.volume.write_thumbnail(uploaded["media"]["sha256"], b"\x89PNG")
    with transaction(made.engine) as connection:
        now = database_now(connection)
        first = sa.update(conversions_table).where(conversions_table.c.id == uploaded["conversion"]["id"])
        connection.execute(first.values(turn=-1))
        job = conversions.claim(connection, now, timedelta(0))
        assert job is not None
        assert conversions.finish(connection, now, made.volume, job, path, Findings(1, 1, 0, None, None, True))


def lose_pdf(made: World) -> int:
    """The id of a medium whose recorded PDF is missing."""
    uploaded = made.made("/api/event-media", files={"file": ("a.pptx", made.deck)})
    convert(made, uploaded)
    (made.volume.root / "converted" / converted_path(uploaded["media"]["sha256"])).unlink()
    return int(uploaded["media"]["id"])


def fail(made: World, uuid: str) -> str:
    """Record a service failure of this display that nobody has acknowledged. Returns when it failed."""
    failed_at = datetime.now(UTC)
    failed = {"service_failed_at": failed_at, "service_failed_unit": "player.service"}
    with transaction(made.engine) as connection:
        connection.execute(sa.update(clients).where(clients.c.uuid == uuid).values(**failed))
        event = {"client_uuid": uuid, "at": failed_at, "event": "failed", "unit": "player.service"}
        connection.execute(sa.insert(service_failure_events).values(**event))
    return failed_at.isoformat()


def mend(made: World, uuid: str) -> str:
    """Record a failure of two minutes ago that the display itself names no more. Returns when it failed."""
    failed_at = datetime.now(UTC) - timedelta(minutes=2)
    failed = {"service_failed_at": failed_at, "service_failed_unit": "player.service", "status": "running"}
    health = {"client_uuid": uuid, "received_at": sa.func.now(), "body": {"service_failed": None}}
    with transaction(made.engine) as connection:
        connection.execute(sa.update(clients).where(clients.c.uuid == uuid).values(**failed))
        connection.execute(sa.insert(client_health).values(**health))
    return failed_at.isoformat()


def open_breaker(made: World) -> None:
    """Open the fleet's breaker."""
    opened = {"open_since": sa.func.now(), "why": to_row(as_given(text="too many at once"))}
    statement = insert(recovery_breakers).values(site="", **opened)
    with transaction(made.engine) as connection:
        connection.execute(statement.on_conflict_do_update(index_elements=["basis", "site"], set_=opened))
