"""The outbox with a real mosquitto in the shipped configuration: the effect of each answer of the broker."""

import json
import logging
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from io import StringIO
from pathlib import Path

import pytest
import sqlalchemy as sa
from sqlalchemy import Connection, Engine

from deploy.parts import broker as mosquitto
from deploy.parts import guardian
from deploy.parts.broker import RunningBroker
from deploy.parts.layout import REPOSITORY
from deploy.parts.probes import free_port, wait_until
from shared.commands.outbox import operations as outbox
from shared.commands.outbox.operations import PublishReport
from shared.errors import BrokerUnavailable, PublishUnanswered
from shared.outside.mqtt import WINDOW, Message, Publisher
from shared.postgres.door import database_now, engine_for
from shared.structured_log import JsonFormatter
from shared.vocabulary import CommandSource, PublishAnswer
from tests.bridge.proxy import proxied
from tests.stores.commands_world import TIMINGS, committed, issued, lockout, new_client, request, seconds
from tests.stores.listening_display import listening_display

ROOT = "signage"


@contextmanager
def publisher_at(broker: RunningBroker, user: str = "api", root: str = ROOT) -> Iterator[Publisher]:
    made = Publisher(broker.broker.services_url, user, broker.passwords[user], root)
    with closing(made):
        yield made


@pytest.fixture
def publisher(broker: RunningBroker) -> Iterator[Publisher]:
    with publisher_at(broker) as made:
        yield made


def publish(engine: Engine, publisher: Publisher, name: str, budget: float = 60.0) -> PublishReport:
    return outbox.publish_due(engine, publisher, TIMINGS, budget, only_ids=[name])


def in_time(seconds: float) -> float:
    """A deadline for the publisher."""
    return time.monotonic() + seconds


def test_a_listening_display_gets_the_command_with_the_seconds_it_has_left(
    engine: Engine, broker: RunningBroker, publisher: Publisher
) -> None:
    client = new_client(engine)
    name = issued(engine, request(client))

    with listening_display(broker, client) as got:
        report = publish(engine, publisher, name)
        message = got.get(timeout=60)

    body = json.loads(message.payload)
    assert report == PublishReport(sent=1)
    assert (body["v"], body["id"], body["action"]) == (1, name, "restart_app")
    assert (body["if_boot_id"], body["if_app_instance"]) == ("boot-1", "start-1")
    assert (message.qos, message.retain) == (1, False)
    assert 55 <= getattr(message.properties, "MessageExpiryInterval", 0) <= 60
    row = committed(engine, name)
    assert (row["state"], row["publish_answer"], row["publish_lease_until"]) == ("sent", 0x00, None)


def test_nothing_is_retained_for_a_display_that_comes_later(
    engine: Engine, broker: RunningBroker, publisher: Publisher
) -> None:
    client = new_client(engine)
    name = issued(engine, request(client))
    assert publish(engine, publisher, name) == PublishReport(no_subscriber=1)

    with listening_display(broker, client) as got:
        marker = f"{ROOT}/{client}/commands"
        assert publisher.publish(marker, b"first", 5, in_time(60)) == PublishAnswer.SUCCESS
        assert got.get(timeout=60).payload == b"first"

    assert got.empty()


def test_nobody_listening_keeps_an_operators_command_and_ends_recoverys(engine: Engine, publisher: Publisher) -> None:
    operators = issued(engine, request(new_client(engine)))
    silent = new_client(engine)
    recoverys = issued(engine, request(silent, source=CommandSource.RECOVERY))

    for name in (operators, recoverys):
        assert publish(engine, publisher, name) == PublishReport(no_subscriber=1)

    waits, over = committed(engine, operators), committed(engine, recoverys)
    assert (waits["state"], waits["outcome_reason"], waits["publish_answer"]) == ("queued", "no_subscriber", 0x10)
    assert (over["state"], over["outcome_reason"]) == ("cancelled", "no_subscriber")
    with engine.connect() as connection:
        assert lockout(connection, silent) is None


def test_a_topic_that_the_acl_forbids_is_said_at_once(engine: Engine, broker: RunningBroker) -> None:
    name = issued(engine, request(new_client(engine)))

    with publisher_at(broker, root="elsewhere") as elsewhere:
        report = publish(engine, elsewhere, name)

    row = committed(engine, name)
    assert report == PublishReport(denied=1)
    assert (row["state"], row["outcome_reason"], row["publish_answer"]) == ("failed", "publish_denied", 0x87)


@pytest.mark.parametrize("user", mosquitto.SERVICES)
def test_each_service_may_publish_commands(broker: RunningBroker, user: str) -> None:
    with publisher_at(broker, user) as made:
        answer = made.publish(made.topics.commands("nobody"), b"{}", 1, in_time(60))

    assert answer == PublishAnswer.NO_SUBSCRIBER


def test_a_broker_that_is_down_leaves_the_command_queued_and_costs_no_time(
    engine: Engine, broker: RunningBroker
) -> None:
    name = issued(engine, request(new_client(engine)))
    nobody = Publisher(f"mqtt://127.0.0.1:{free_port()}", "api", "x", ROOT)

    report = publish(engine, nobody, name, budget=3600.0)  # waiting would use all of it

    row = committed(engine, name)
    assert report == PublishReport(waiting=1)
    assert (row["state"], row["publish_attempted_at"], row["publish_lease_until"]) == ("queued", None, None)
    assert row["next_publish_at"] > row["created_at"]


def test_a_wrong_password_is_a_broker_that_cannot_be_used(broker: RunningBroker) -> None:
    stranger = Publisher(broker.broker.services_url, "api", "wrong", ROOT)

    with pytest.raises(BrokerUnavailable, match="0x87"):
        stranger.publish("signage/x/commands", b"{}", 1, in_time(60))


@contextmanager
def deaf_server() -> Iterator[int]:
    """A port that accepts connections and never answers."""
    with socket.create_server(("127.0.0.1", 0), backlog=16) as server:
        yield server.getsockname()[1]


def test_a_broker_that_never_answers_ends_within_the_budget_and_nothing_was_sent(engine: Engine) -> None:
    name = issued(engine, request(new_client(engine)))
    began = time.monotonic()

    with deaf_server() as port:
        report = publish(engine, Publisher(f"mqtt://127.0.0.1:{port}", "api", "x", ROOT), name, budget=0.4)

    row = committed(engine, name)
    assert time.monotonic() - began > 0.3  # it was called, and would block for ever
    assert report == PublishReport(waiting=1)
    assert (row["state"], row["publish_attempted_at"], row["unanswered_at"]) == ("queued", None, None)


@pytest.fixture
def own_broker() -> Iterator[RunningBroker]:
    """A broker of this test's own, which it may break."""
    with mosquitto.throw_away() as running:
        yield running


def test_a_broker_that_freezes_leaves_the_doubt_that_the_command_was_heard(
    engine: Engine, own_broker: RunningBroker
) -> None:
    name = issued(engine, request(new_client(engine)))
    with publisher_at(own_broker) as publisher:
        publisher.publish(publisher.topics.commands("nobody"), b"{}", 1, in_time(60))  # it is connected
        guardian.send(own_broker.pid, signal.SIGSTOP)
        try:
            for budget in (0.4, 4.0, 40.0):  # a slow machine sends nothing within the first
                report = publish(engine, publisher, name, budget)
                if report != PublishReport(waiting=1):
                    break
        finally:
            guardian.send(own_broker.pid, signal.SIGCONT)

        row = committed(engine, name)
        assert report == PublishReport(unanswered=1)
        assert (row["state"], row["publish_lease_until"]) == ("queued", None)
        assert row["unanswered_at"] is not None
        with engine.begin() as connection:  # and is published again with the same id
            [again] = outbox.claim_due(connection, database_now(connection) + seconds(2), only_ids=[name])
        assert again.id == name
        assert publisher.publish(publisher.topics.commands("nobody"), b"{}", 1, in_time(60)) == 0x10


def test_the_publisher_comes_back_after_the_broker_was_restarted(tmp_path: Path) -> None:
    place = mosquitto.Broker(tmp_path / "run", tmp_path / "data", free_port(), free_port())
    passwords = dict.fromkeys(mosquitto.SERVICES, "a-throw-away-password")
    publisher = Publisher(place.services_url, "api", passwords["api"], ROOT)
    topic = publisher.topics.commands("nobody")

    with closing(publisher):
        for _ in range(2):
            with mosquitto.serve(place, passwords, tmp_path / "log"):
                assert publisher.publish(topic, b"{}", 1, in_time(60)) == PublishAnswer.NO_SUBSCRIBER
            with pytest.raises(BrokerUnavailable) as fault:
                publisher.publish(topic, b"{}", 1, in_time(60))
            assert not isinstance(fault.value, PublishUnanswered)  # provably not sent


def test_threads_may_share_a_publisher(broker: RunningBroker, publisher: Publisher) -> None:
    def publish_one(number: int) -> int:
        return publisher.publish(publisher.topics.commands(f"nobody-{number}"), b"{}", 1, in_time(60))

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(publish_one, range(200)))

    assert answers == [PublishAnswer.NO_SUBSCRIBER] * 200


def test_a_closed_publisher_leaves_no_connection_and_can_be_used_again(
    broker: RunningBroker, publisher: Publisher
) -> None:
    topic = publisher.topics.commands("nobody")
    publisher.publish(topic, b"{}", 1, in_time(60))
    link = publisher._link
    assert link is not None

    publisher.close()

    assert link._client.socket() is None
    assert publisher.publish(topic, b"{}", 1, in_time(60)) == PublishAnswer.NO_SUBSCRIBER


def test_many_due_commands_go_out_in_one_call_the_oldest_first(
    engine: Engine, broker: RunningBroker, publisher: Publisher, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outbox, "CLAIM_IN_A_ROUND", 25)
    names = [issued(engine, request(new_client(engine))) for _ in range(60)]

    report = outbox.publish_due(engine, publisher, TIMINGS, only_ids=names)

    assert report == PublishReport(no_subscriber=60)
    attempted = [committed(engine, name)["publish_attempted_at"] for name in names]
    assert attempted == sorted(attempted)


KILLED = """
import sys
from shared import config
from shared.commands import operations
from shared.commands.outbox.operations import publish_due
from shared.postgres.door import engine_for
from shared.outside.mqtt import Publisher
from shared.structured_log import JsonFormatter
url, port, name = sys.argv[1:]
publisher = Publisher(f"mqtt://127.0.0.1:{port}", "api", "x", "signage")
timings = operations.timings(config.load({}))
publish_due(engine_for(url, "killed"), publisher, timings, 60, only_ids=[name])
"""


def test_after_a_publisher_killed_with_its_claim_the_same_id_goes_out_again(engine: Engine, database_url: str) -> None:
    client = new_client(engine)
    name = issued(engine, request(client))

    with deaf_server() as port:
        arguments = [sys.executable, "-c", KILLED, database_url, str(port), name]
        with subprocess.Popen(arguments, cwd=REPOSITORY) as process:
            wait_until(lambda: committed(engine, name)["publish_lease_until"] is not None, 60)
            process.send_signal(signal.SIGKILL)

    row = committed(engine, name)
    with engine.begin() as connection:
        assert outbox.claim_due(connection, row["publish_lease_until"] - seconds(0.001), only_ids=[name]) == []
        [again] = outbox.claim_due(connection, row["publish_lease_until"], only_ids=[name])
    assert again.id == name
    assert committed(engine, name)["unanswered_at"] == row["publish_attempted_at"]


class LockingPublisher(Publisher):
    """Before it publishes, another connection locks the rows and keeps the lock."""

    def __init__(self, broker: RunningBroker, holder: Connection) -> None:
        super().__init__(broker.broker.services_url, "api", broker.passwords["api"], ROOT)
        self._holder = holder

    def publish_many(self, messages: Sequence[Message], deadline: float) -> list[int | BrokerUnavailable]:
        self._holder.execute(sa.text("LOCK TABLE client_commands"))
        return super().publish_many(messages, deadline)


def test_a_database_that_fails_after_the_publish_is_survived_and_the_doubt_is_kept(
    engine: Engine, database_url: str, broker: RunningBroker
) -> None:
    name = issued(engine, request(new_client(engine)))
    hurried = engine_for(database_url, "hurried")
    sa.event.listen(hurried, "begin", lambda connection: connection.exec_driver_sql("SET lock_timeout = '100ms'"))

    with engine.connect() as holder, closing(LockingPublisher(broker, holder)) as publisher:
        report = publish(hurried, publisher, name)
    hurried.dispose()

    assert report == PublishReport()
    row = committed(engine, name)
    assert (row["state"], row["publish_answer"]) == ("queued", None)
    with engine.begin() as connection:
        [again] = outbox.claim_due(connection, row["publish_lease_until"], only_ids=[name])
    assert again.id == name
    assert committed(engine, name)["unanswered_at"] == row["publish_attempted_at"]


# --- many at once ---


@contextmanager
def slow_publisher(broker: RunningBroker, delay_seconds: float) -> Iterator[Publisher]:
    """A publisher over a link that delays each piece of data."""
    with proxied(broker.broker.services_port) as link:
        link.delay_seconds = delay_seconds
        made = Publisher(f"mqtt://127.0.0.1:{link.port}", "api", broker.passwords["api"], ROOT)
        with closing(made):
            yield made


def publish_numbers(connection: socket.socket) -> list[bytes]:
    """The packet ids of the messages received until a pause; empty at the end of the connection."""
    connection.settimeout(60)
    data = connection.recv(4096)
    connection.settimeout(0.1)
    with suppress(TimeoutError):
        while piece := connection.recv(4096):
            data += piece
    numbers = []
    while data[:1] == b"\x32":  # PUBLISH, QoS 1; each is shorter than 128 bytes
        topic_end = 4 + int.from_bytes(data[2:4], "big")
        numbers.append(data[topic_end : topic_end + 2])
        data = data[2 + data[1] :]
    return numbers


@contextmanager
def strict_broker(receive_maximum: int) -> Iterator[tuple[int, list[int]]]:
    """A broker with just enough MQTT 5: its port, and how many messages were unanswered whenever it had read all."""
    seen: list[int] = []

    def serve(server: socket.socket) -> None:
        connection, _ = server.accept()
        with connection:
            connection.recv(4096)
            connection.sendall(b"\x20\x06\x00\x00\x03\x21" + receive_maximum.to_bytes(2, "big"))
            while numbers := publish_numbers(connection):
                seen.append(len(numbers))
                connection.sendall(b"".join(b"\x40\x02" + number for number in numbers))

    with socket.create_server(("127.0.0.1", 0)) as server, ThreadPoolExecutor(1) as pool:
        served = pool.submit(serve, server)
        yield server.getsockname()[1], seen
        served.result(timeout=60)


def test_a_hundred_commands_go_out_over_a_slow_link(engine: Engine, broker: RunningBroker) -> None:
    names = [issued(engine, request(new_client(engine))) for _ in range(100)]
    with slow_publisher(broker, 0.3) as slow:
        report = outbox.publish_due(engine, slow, TIMINGS, 60.0, only_ids=names)

    assert report == PublishReport(no_subscriber=100)  # one after another they would take more than a minute


def test_when_the_time_is_over_what_was_not_sent_is_due_and_nothing_has_left_unseen(
    engine: Engine, broker: RunningBroker
) -> None:
    names = [issued(engine, request(new_client(engine))) for _ in range(100)]
    with slow_publisher(broker, 0.3) as slow:
        report = outbox.publish_due(engine, slow, TIMINGS, 3.0, only_ids=names)

    rows = [committed(engine, name) for name in names]
    in_doubt = sum(row["unanswered_at"] is not None for row in rows)
    claimed = sum(row["publish_attempts"] for row in rows)
    assert (report.unanswered, report.no_subscriber + report.waiting) == (in_doubt, claimed - in_doubt)
    assert in_doubt <= WINDOW
    assert [row for row in rows if row["publish_lease_until"] is not None] == []  # all are due again, soon or now


def test_no_more_are_on_their_way_than_the_broker_takes(tmp_path: Path) -> None:
    with strict_broker(receive_maximum=5) as (port, seen):
        publisher = Publisher(f"mqtt://127.0.0.1:{port}", "api", "x", ROOT)
        with closing(publisher):
            soon = in_time(60)
            messages = [publisher.command(f"display-{number}", b"{}", soon) for number in range(40)]
            answers = publisher.publish_many(messages, soon)
    assert answers == [0] * 40
    assert max(seen) <= 5


def test_a_message_that_is_too_late_is_not_sent_and_the_others_are(publisher: Publisher) -> None:
    soon = in_time(60)
    messages = [publisher.command("nobody", b"{}", at) for at in (soon, in_time(0.5), soon)]

    first, late, last = publisher.publish_many(messages, soon)

    assert (first, last) == (0x10, 0x10)
    assert isinstance(late, BrokerUnavailable)
    assert not isinstance(late, PublishUnanswered)


@pytest.fixture
def lines() -> Iterator[StringIO]:
    stream = StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonFormatter())
    logger = logging.getLogger("signage")
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    yield stream
    logger.removeHandler(handler)


@contextmanager
def scripted(*answers: bytes) -> Iterator[str]:
    """The address of a broker that gives these answers to the packets of one connection, whatever they are."""
    with socket.create_server(("127.0.0.1", 0)) as server, ThreadPoolExecutor(1) as pool:

        def answer() -> None:
            with server.accept()[0] as connection:
                for one in answers:
                    connection.recv(4096)
                    connection.sendall(one)
                with suppress(ConnectionResetError):
                    connection.recv(4096)

        answering = pool.submit(answer)
        yield f"mqtt://127.0.0.1:{server.getsockname()[1]}"
        answering.result(60)


def test_two_instances_that_throw_each_other_out_of_one_login_are_told_of(lines: StringIO) -> None:
    with scripted(b"\x20\x03\x00\x00\x00", b"\xe0\x01\x8e") as url:
        publisher = Publisher(url, "api", "password", ROOT)
        with pytest.raises(PublishUnanswered):
            publisher.publish("a/b", b"{}", 10, in_time(60))

    told = [json.loads(line) for line in lines.getvalue().splitlines()]
    assert [(line["event"], line["username"]) for line in told] == [("broker_login_shared", "api")]


def test_to_a_broker_that_takes_qos_0_only_nothing_is_published() -> None:
    with scripted(b"\x20\x05\x00\x00\x02\x24\x00") as url:
        publisher = Publisher(url, "api", "password", ROOT)
        with pytest.raises(BrokerUnavailable, match="QoS 0 only"):
            publisher.publish("a/b", b"{}", 10, in_time(60))
