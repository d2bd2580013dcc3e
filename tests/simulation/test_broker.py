"""The simulated broker behaves as the real one: each story runs on both, and the results are equal.

On real brokers all stories run at once, each on its own mosquitto, because stories consist of seconds that pass.
"""

import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final

import pytest

from tests.lab.simulation.sides import BRIDGE, COMMANDS, DISPLAY, HEARTBEAT, PRESENCE, RealSide, Side, SimulatedSide

NOBODY, TAKEN = 0x10, 0x00
A_WHILE = 5  # seconds, more than the next step of a story takes
SLOWER = (1, 4)  # how many times as long all seconds are: on a busy machine a step may take more than `A_WHILE`
OVER = 6.3  # more than that, because the broker counts whole seconds
ANY_PRESENCE = "signage/+/presence"

Story = Callable[[Side], list[Any]]


def a_command_that_nobody_subscribed_is_answered_so(side: Side) -> list[Any]:
    before = side.publish(COMMANDS, "first")
    side.connect(DISPLAY, expiry=30)
    side.subscribe(DISPLAY, COMMANDS)
    return [before, side.publish(COMMANDS, "second"), side.heard(DISPLAY)]


def a_session_outlives_its_connection_for_its_expiry_and_no_longer(side: Side) -> list[Any]:
    side.connect(DISPLAY, expiry=A_WHILE)
    side.subscribe(DISPLAY, COMMANDS)
    side.lose(DISPLAY)
    while_away = side.publish(COMMANDS, "while away")
    side.wait(OVER)
    too_late = side.publish(COMMANDS, "too late")
    return [while_away, too_late, side.connect(DISPLAY, expiry=A_WHILE), side.heard(DISPLAY)]


def what_came_while_a_client_was_away_waits_for_it_in_order(side: Side) -> list[Any]:
    side.connect(DISPLAY, expiry=30)
    side.subscribe(DISPLAY, COMMANDS)
    side.lose(DISPLAY)
    for word in ("first", "second", "third"):
        side.publish(COMMANDS, word)
    return [side.connect(DISPLAY, expiry=30), side.heard(DISPLAY)]


def a_message_that_expired_while_it_waited_is_not_delivered(side: Side) -> list[Any]:
    side.connect(DISPLAY, expiry=30)
    side.subscribe(DISPLAY, COMMANDS)
    side.lose(DISPLAY)
    side.publish(COMMANDS, "short-lived", expiry=A_WHILE)
    side.publish(COMMANDS, "long-lived", expiry=60)
    side.wait(OVER)
    return [side.connect(DISPLAY, expiry=30), side.heard(DISPLAY)]


def who_leaves_with_expiry_0_is_nobody_at_once(side: Side) -> list[Any]:
    side.connect(DISPLAY, expiry=30, will_delay=A_WHILE)
    side.subscribe(DISPLAY, COMMANDS)
    side.leave(DISPLAY, expiry=0)
    return [side.publish(COMMANDS, "anybody?")]


def a_will_speaks_after_its_delay_and_is_retained(side: Side) -> list[Any]:
    side.connect(BRIDGE, expiry=60)
    side.subscribe(BRIDGE, ANY_PRESENCE)
    side.connect(DISPLAY, expiry=30, will_delay=A_WHILE)
    side.lose(DISPLAY)
    at_once = list(side.heard(BRIDGE))
    side.wait(OVER)
    later = list(side.heard(BRIDGE))
    side.leave(BRIDGE, expiry=0)
    side.connect(BRIDGE, expiry=60)
    side.subscribe(BRIDGE, ANY_PRESENCE)
    return [at_once, later, side.heard(BRIDGE)]


def a_will_is_silent_when_its_client_is_back_in_time_or_left_in_order(side: Side) -> list[Any]:
    side.connect(BRIDGE, expiry=60)
    side.subscribe(BRIDGE, ANY_PRESENCE)
    side.connect(DISPLAY, expiry=30, will_delay=A_WHILE)
    side.lose(DISPLAY)
    side.connect(DISPLAY, expiry=30, will_delay=A_WHILE)
    side.wait(OVER)
    side.leave(DISPLAY, expiry=30)
    side.wait(OVER)
    return [side.heard(BRIDGE)]


def what_was_not_acknowledged_is_delivered_again(side: Side) -> list[Any]:
    side.connect(BRIDGE, expiry=60, acks=False)
    side.subscribe(BRIDGE, "signage/+/heartbeat")
    side.publish(HEARTBEAT, "first")
    side.publish(HEARTBEAT, "second")
    first_time = list(side.heard(BRIDGE))
    side.lose(BRIDGE)
    side.publish(HEARTBEAT, "third")
    side.connect(BRIDGE, expiry=60)
    again = list(side.heard(BRIDGE))
    side.lose(BRIDGE)
    side.connect(BRIDGE, expiry=60)
    return [first_time, again, side.heard(BRIDGE)]


def retained_messages_come_with_a_new_subscription_only(side: Side) -> list[Any]:
    side.publish(PRESENCE, "online", retain=True)
    side.connect(BRIDGE, expiry=60)
    side.subscribe(BRIDGE, ANY_PRESENCE)
    side.subscribe(BRIDGE, ANY_PRESENCE)
    first = list(side.heard(BRIDGE))
    side.lose(BRIDGE)
    side.connect(BRIDGE, expiry=60)
    side.subscribe(BRIDGE, ANY_PRESENCE)
    return [first, side.heard(BRIDGE)]


def a_killed_broker_keeps_sessions_and_what_was_saved_and_forgets_wills(side: Side) -> list[Any]:
    side.connect(BRIDGE, expiry=60)
    side.subscribe(BRIDGE, ANY_PRESENCE)
    side.connect(DISPLAY, expiry=30, will_delay=A_WHILE)
    side.subscribe(DISPLAY, COMMANDS)
    side.wait(OVER)
    side.kill()
    side.start()
    side.wait(OVER)
    code = side.publish(COMMANDS, "after the kill")
    found = [side.connect(BRIDGE, expiry=60), side.connect(DISPLAY, expiry=30)]
    return [code, found, side.heard(BRIDGE), side.heard(DISPLAY)]


def a_broker_that_stops_in_order_speaks_every_will(side: Side) -> list[Any]:
    side.connect(BRIDGE, expiry=60)
    side.subscribe(BRIDGE, ANY_PRESENCE)
    side.connect(DISPLAY, expiry=30, will_delay=20)
    side.stop()
    side.start()
    return [side.connect(BRIDGE, expiry=60), side.heard(BRIDGE)]


FRESH: Final = [("first", False), ("second", False), ("third", False)]
TOLD: Final[dict[Story, list[Any]]] = {
    a_command_that_nobody_subscribed_is_answered_so: [NOBODY, TAKEN, [("second", False)]],
    a_session_outlives_its_connection_for_its_expiry_and_no_longer: [TAKEN, NOBODY, False, []],
    what_came_while_a_client_was_away_waits_for_it_in_order: [True, FRESH],
    a_message_that_expired_while_it_waited_is_not_delivered: [True, [("long-lived", False)]],
    who_leaves_with_expiry_0_is_nobody_at_once: [NOBODY],
    a_will_speaks_after_its_delay_and_is_retained: [[], [("will", False)], [("will", True)]],
    a_will_is_silent_when_its_client_is_back_in_time_or_left_in_order: [[]],
    what_was_not_acknowledged_is_delivered_again: [FRESH[:2], FRESH, []],
    retained_messages_come_with_a_new_subscription_only: [[("online", True)], []],
    a_killed_broker_keeps_sessions_and_what_was_saved_and_forgets_wills: [
        TAKEN,
        [True, True],
        [],
        [("after the kill", False)],
    ],
    a_broker_that_stops_in_order_speaks_every_will: [True, [("will", False)]],
}


@pytest.fixture(scope="module")
def mosquittos() -> Iterator[dict[Story, Future[list[Any]]]]:
    """Story -> its result on a real broker."""
    with ThreadPoolExecutor(len(TOLD)) as pool:
        yield {story: pool.submit(_told_by_mosquitto, story) for story in TOLD}


def _told_by_mosquitto(story: Story) -> list[Any]:
    told: list[Any] = []
    for slower in SLOWER:
        with tempfile.TemporaryDirectory(prefix="signage-side-") as folder:
            side = RealSide(Path(folder), slower)
            try:
                told = story(side)
            finally:
                side.close()
        if told == TOLD[story]:
            break
    return told


@pytest.mark.parametrize("story", TOLD, ids=lambda story: story.__name__)
def test_mosquitto_and_the_simulated_broker_tell_the_same(
    mosquittos: dict[Story, Future[list[Any]]], story: Story
) -> None:
    assert story(SimulatedSide()) == TOLD[story]
    assert mosquittos[story].result(240) == TOLD[story]
