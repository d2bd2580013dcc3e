"""The processor time of a message by stage and by statement, which hardly depends on a busy machine.

It has no limits; it prints lines that docs/performance.md explains.
"""

import select
import socket
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from paho.mqtt.enums import CallbackAPIVersion, MQTTErrorCode, MQTTProtocolVersion
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties
from sqlalchemy import Connection

from bridge.batches import BATCH_MESSAGES
from bridge.connection import RECEIVE_MAXIMUM
from bridge.fast_paho import FastClient, PlainClient
from bridge.granted import SESSION_EXPIRY_SECONDS
from bridge.inbox import Arrival, Arrivals, Inbox
from bridge.main import rarely_collect
from deploy.parts.layout import LOOPBACK
from deploy.parts.probes import wait_until
from tests.lab.bench.ingest import RECEIVED, SECONDS, leave
from tests.lab.bench.report import Row
from tests.lab.bench.store import writing
from tests.lab.bench.traffic import Traffic, bench_machine, publish
from tests.lab.campaigns.machine import Machine, rows
from tests.lab.campaigns.machine import processor_seconds as with_children

MESSAGES = 120_000
MICRO = 1e6


def measure(folder: Path) -> list[Row]:
    """Print the stages. Returns no rows."""
    rarely_collect()
    with bench_machine(folder, bridge=True) as (service, port):
        leave(service)
        for kind in (PlainClient, FastClient):
            publish(port, Traffic().messages(MESSAGES))
            _show(f"receive and acknowledge, {kind.__name__}", receive(service, kind))
        _show("read the documents", read())
        engine = service.engine()
        with engine.connect() as connection:
            store(connection)
        engine.dispose()  # and so the leader lock
        work_off(service, port)
    return []


def work_off(service: Machine, port: int) -> None:
    """Print the time of a message, and each program's processor time, while the bridge processes a backlog."""
    traffic, engine = Traffic(seed=2), service.engine()
    known = traffic.introductions()
    publish(port, [*known, *traffic.messages(MESSAGES)])
    service.bridge.start()

    def received(at_least: int) -> int:
        found: list[int] = []

        def is_so_far() -> bool:
            found[:] = [int(row[0]) for row in rows(engine, RECEIVED)]
            return bool(found) and found[0] >= at_least

        wait_until(is_so_far, SECONDS)
        return found[0]

    def seconds() -> dict[str, float]:
        pids = {name: one.pids for name, one in service.components.items()}
        return {name: sum(map(with_children, own)) for name, own in pids.items()} | {"goes by": time.monotonic()}

    first, before = received(len(known) + MESSAGES // 6), seconds()
    last, after = received(len(known) + MESSAGES * 5 // 6), seconds()
    leave(service)
    engine.dispose()
    for name in ("goes by", "bridge", "postgres", "broker"):
        _show(f"while a backlog is worked off: {name}", after[name] - before[name], last - first)


def _show(what: str, seconds: float, messages: int = MESSAGES) -> None:
    print(f"  {what:<60} {seconds / messages * MICRO:7.2f} us/message")


def receive(service: Machine, kind: Callable[..., PlainClient]) -> float:
    """The processor seconds for reading the bridge's backlog and acknowledging it in batches."""
    arrivals = Arrivals(RECEIVE_MAXIMUM)
    client = kind(
        arrivals,
        callback_api_version=CallbackAPIVersion.VERSION2,
        client_id="bridge",
        protocol=MQTTProtocolVersion.MQTTv5,
        manual_ack=True,
    )
    client.username_pw_set("bridge", service.passwords["bridge"])
    properties = Properties(PacketTypes.CONNECT)  # type: ignore[no-untyped-call]  # paho leaves it without types
    properties.SessionExpiryInterval = SESSION_EXPIRY_SECONDS
    properties.ReceiveMaximum = RECEIVE_MAXIMUM
    client.connect(LOOPBACK, service.place.services_port, clean_start=False, properties=properties)
    taken, began = 0, time.process_time()
    while taken < MESSAGES:
        raw = client.socket()
        assert isinstance(raw, socket.socket)
        readable, writable, _ = select.select([raw], [raw] if client.want_write() else [], [], 1)
        if writable:
            client.loop_write()
        if readable:
            assert client.take() == MQTTErrorCode.MQTT_ERR_SUCCESS
        if len(arrivals) >= BATCH_MESSAGES or taken + len(arrivals) >= MESSAGES:
            client.acknowledge([one.mid for one in arrivals])
            taken += len(arrivals)
            arrivals.clear()
    seconds = time.process_time() - began
    client.disconnect()
    return seconds


def read() -> float:
    """The processor seconds for reading topics and documents."""
    inbox = Inbox("signage", "signage/service/canary")
    arrivals = [Arrival(topic.decode(), payload, 1, 0.0) for topic, payload in Traffic().messages(MESSAGES)]
    began = time.process_time()
    for start in range(0, MESSAGES, BATCH_MESSAGES):
        _ = [inbox.read(arrival) for arrival in arrivals[start : start + BATCH_MESSAGES]]
    return time.process_time() - began


def store(connection: Connection) -> None:
    """Print the bridge's processor time for writing, and that of Postgres by statement, for registered clients."""
    written, traffic = writing(connection), Traffic()
    for messages in (traffic.greetings(), traffic.messages(MESSAGES), traffic.messages(MESSAGES)):
        written(messages)
    with connection.begin():
        backend = int(connection.execute(sa.text("SELECT pg_backend_pid()")).scalar_one())
    by_statement: defaultdict[str, float] = defaultdict(float)
    began: list[float] = []

    def before(*_: Any) -> None:
        began.append(processor_seconds(backend))

    def after(_connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
        by_statement[" ".join(statement.split())[:52]] += processor_seconds(backend) - began.pop()

    sa.event.listen(connection.engine, "before_cursor_execute", before)
    sa.event.listen(connection.engine, "after_cursor_execute", after)
    messages, ours, theirs = traffic.messages(MESSAGES), time.process_time(), processor_seconds(backend)
    written(messages)
    _show("read and write, the bridge's own part", time.process_time() - ours)
    _show("Postgres, all in all", processor_seconds(backend) - theirs)
    for statement, seconds in sorted(by_statement.items(), key=lambda item: -item[1])[:9]:
        _show(f"  {statement}", seconds)


def processor_seconds(pid: int) -> float:
    """The processor time of a process in seconds."""
    return int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) / 1e9
