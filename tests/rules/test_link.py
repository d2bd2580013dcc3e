"""When a leader lets another bridge try, and when it reports that its connections are ended."""

from types import SimpleNamespace
from typing import Any, cast

from bridge.lanes import ASIDE_SECONDS, FEW, GIVE_UP_SECONDS, SHORTEST_ASIDE_SECONDS, STEADY_SECONDS, BrokerLink

NO_LANES = cast("Any", SimpleNamespace(is_open=False, is_ready=False))
OPEN = cast("Any", SimpleNamespace(is_open=True, is_ready=True))
NOW = 1_000.0


def leading() -> BrokerLink:
    link = BrokerLink()
    link.began(NOW)
    return link


def test_a_leader_that_never_gets_a_connection_gives_up_after_a_while() -> None:
    link = leading()
    for second in range(int(GIVE_UP_SECONDS)):
        link.goes_on(NO_LANES, NOW + second)
        link.ended("refused", NOW + second)

    assert not link.gives_up(NOW + GIVE_UP_SECONDS)
    assert link.gives_up(NOW + GIVE_UP_SECONDS + 0.1)


def test_a_connection_counts_as_long_as_it_is_open_and_the_wait_begins_with_its_end() -> None:
    link = leading()
    link.goes_on(OPEN, NOW + 29)
    assert not link.gives_up(NOW + 1_000)

    link.ended("cut", NOW + 1_000)

    assert not link.gives_up(NOW + 1_000 + GIVE_UP_SECONDS)
    assert link.gives_up(NOW + 1_000.1 + GIVE_UP_SECONDS)


def test_it_stands_aside_long_where_it_reaches_no_broker_and_a_little_where_it_does() -> None:
    link = BrokerLink(aside="cannot be reached", aside_at=NOW)

    assert link.stands_aside(NOW + ASIDE_SECONDS - 0.1, lambda: False)
    assert not link.stands_aside(NOW + ASIDE_SECONDS, lambda: False)
    assert link.stands_aside(NOW + SHORTEST_ASIDE_SECONDS - 0.1, lambda: True)
    assert not link.stands_aside(NOW + SHORTEST_ASIDE_SECONDS, lambda: True)


def short_connections(link: BrokerLink, count: int, why: str = "paho: MQTT_ERR_CONN_LOST") -> None:
    for number in range(count):
        link.goes_on(OPEN, NOW + number)
        link.ended(why, NOW + number + 0.5)


def test_a_few_connections_in_a_row_that_end_at_once_are_no_accident() -> None:
    link = leading()
    short_connections(link, FEW - 1)
    assert link.faults() == []

    short_connections(link, 1, "disconnected: Session taken over")

    assert "Session taken over" in link.faults()[0]
    assert "does another deployment use the same MQTT_USERNAME" in link.faults()[0]
    assert "may its displays use any client id?" in link.faults()[0]


def test_a_connection_that_holds_ends_suspicion_and_a_broker_away_raises_none() -> None:
    link = leading()
    short_connections(link, FEW)
    link.goes_on(OPEN, NOW + 100)
    assert link.goes_on(OPEN, NOW + 100 + STEADY_SECONDS)
    assert (link.faults(), link.fault) == ([], None)

    for second in range(20):
        link.ended("cannot be reached: ConnectionRefusedError", NOW + 200 + second)

    assert link.faults() == []
