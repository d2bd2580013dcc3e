"""The bridge's connection to the broker: no automatic acknowledgement, and no exception from a callback."""

import uuid
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from bridge.connection import BrokerConnection
from bridge.inbox import Arrival, Arrivals
from deploy.parts import broker as mosquitto
from deploy.parts.probes import free_port
from shared.outside.topics import Topics
from tests.bridge.conftest import Display, eventually, forget_session

TOPICS = Topics("signage")
MANY = 500  # far above 20, the window of a client that announces none


@contextmanager
def opened(broker: mosquitto.RunningBroker, url: str | None = None) -> Iterator[BrokerConnection]:
    """A subscribed connection."""
    address = url or broker.broker.services_url
    connection = BrokerConnection(address, "bridge", broker.passwords["bridge"], TOPICS.subscriptions())
    connection.open()
    try:
        turn(connection, lambda: connection.is_ready)
        yield connection
    finally:
        connection.abort("the test is over")


def turn(connection: BrokerConnection, until: Callable[[], bool]) -> None:
    """Step the connection until the condition holds."""

    def once() -> bool:
        connection.step(0.01)
        return until()

    eventually(once)


@pytest.fixture
def without_session(broker: mosquitto.RunningBroker) -> Iterator[None]:
    forget_session(broker)
    yield
    forget_session(broker)


def send(display: Display, count: int = MANY) -> None:
    for number in range(count):
        display.publish_soon("logs/info", {"message": str(number)})


def test_a_whole_window_arrives_without_an_acknowledgement_and_again_after_a_cut(
    broker: mosquitto.RunningBroker, display: Display, without_session: None
) -> None:
    with opened(broker) as first:
        send(display)
        turn(first, lambda: len(first.arrivals) == MANY)
        before = [arrival.payload for arrival in first.arrivals]

    with opened(broker) as second:
        turn(second, lambda: len(second.arrivals) == MANY)
        assert [arrival.payload for arrival in second.arrivals] == before
        second.acknowledge(MANY)
        second.leave(TOPICS.canary, 10.0)

    with opened(broker) as third:
        display.publish_soon("logs/info", {"message": "last"})
        turn(third, lambda: any(arrival.topic != TOPICS.canary for arrival in third.arrivals))
        last = [arrival.payload for arrival in third.arrivals if arrival.topic != TOPICS.canary]
        assert last == [b'{"message": "last"}']


def test_an_exception_in_a_callback_neither_escapes_nor_ends_the_connection(
    broker: mosquitto.RunningBroker, display: Display, without_session: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    refusals = [MemoryError()]

    def append(arrivals: Arrivals, arrival: Arrival) -> None:
        if refusals:
            raise refusals.pop()
        deque.append(arrivals, arrival)

    with opened(broker) as connection:
        monkeypatch.setattr(Arrivals, "append", append)
        send(display, 3)

        turn(connection, lambda: len(connection.arrivals) == 2)

        assert connection.fault is None
        assert connection.is_ready


def test_a_publish_tells_what_the_broker_answered(
    broker: mosquitto.RunningBroker, display: Display, without_session: None
) -> None:
    with opened(broker) as connection:
        heard = connection.publish(TOPICS.commands(display.uuid), b"{}", 10, watch=True)
        unheard = connection.publish(TOPICS.commands(str(uuid.uuid4())), b"{}", 10, watch=True)
        denied = connection.publish(TOPICS.log_level(display.uuid), b"{}", 10, watch=True)
        turn(connection, lambda: len(connection.answers) == 3)

        assert [connection.answers[number] for number in (heard, unheard, denied) if number] == [0x00, 0x10, 0x87]


def test_nothing_is_published_over_a_connection_that_is_over(broker: mosquitto.RunningBroker) -> None:
    with opened(broker) as connection:
        connection.abort("cut")

        assert connection.publish(TOPICS.canary, b"{}", 10, watch=True) is None
        connection.step(0.01)
        assert connection.fault == "cut"


@pytest.mark.parametrize(
    ("username", "password", "why"),
    [("bridge", "wrong", "refused"), ("api", "", "refused")],
)
def test_a_refused_login_is_a_fault(broker: mosquitto.RunningBroker, username: str, password: str, why: str) -> None:
    connection = BrokerConnection(broker.broker.services_url, username, password, TOPICS.subscriptions())
    connection.open()

    turn(connection, lambda: connection.fault is not None)

    assert why in (connection.fault or "")
    connection.abort("over")


def test_a_broker_that_is_not_there_is_a_fault() -> None:
    connection = BrokerConnection(f"mqtt://127.0.0.1:{free_port()}", "bridge", "x", TOPICS.subscriptions())
    connection.open()

    assert "cannot be reached" in (connection.fault or "")


def test_an_acknowledgement_that_fails_ends_the_connection_and_acknowledges_no_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """An exception would keep the batch but lose its arrivals, and the next try would acknowledge other messages."""
    connection = BrokerConnection(f"mqtt://127.0.0.1:{free_port()}", "bridge", "x", TOPICS.subscriptions())
    connection.arrivals.extend(Arrival("signage/x/logs/info", b"", number, 0.0) for number in (1, 2, 3))

    def fails(_numbers: object) -> None:
        raise RuntimeError

    monkeypatch.setattr(connection._client, "acknowledge", fails)
    connection.acknowledge(2)

    assert "the client failed" in (connection.fault or "")
    assert [arrival.mid for arrival in connection.arrivals] == [3]
