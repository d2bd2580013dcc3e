"""Messages understood before their turn come in their turn."""

from collections import deque

from hypothesis import given
from hypothesis import strategies as st

from bridge.ahead import FEW, Ahead
from bridge.inbox import Arrival, PutAside, Taken
from bridge.messages import Said


def understood(arrival: Arrival) -> Taken:
    return Taken(arrival, Said(arrival.topic, None))


def arrivals(first: int, count: int) -> list[Arrival]:
    return [Arrival(f"topic {number}", b"", number, 0.0) for number in range(first, first + count)]


def topics(said: list[Taken | PutAside]) -> list[str | None]:
    assert all(isinstance(one, Taken) for one in said)
    return [one.said.uuid for one in said if isinstance(one, Taken)]


STEPS = st.lists(st.tuples(st.sampled_from(["arrive", "read on", "take", "lost"]), st.integers(1, 250)), max_size=40)


@given(STEPS)
def test_whatever_is_read_when_every_message_is_taken_once_and_in_order(steps: list[tuple[str, int]]) -> None:
    """As the bridge does it: a batch is in hand until it is acknowledged, and a lost connection brings all again."""
    ahead, waiting, in_hand, next_number = Ahead(understood), deque[Arrival](), 0, 1
    for step, number in steps:
        if step == "arrive":
            waiting.extend(arrivals(next_number, number))
            next_number += number
        elif step == "read on":
            ahead.understand_some(waiting, in_hand)
        elif step == "lost":
            ahead.forget()
            in_hand = 0
        else:
            for _ in range(in_hand):  # the batch before is acknowledged
                waiting.popleft()
            in_hand = min(number, len(waiting))
            assert topics(ahead.take(waiting, in_hand)) == [one.topic for one in list(waiting)[:in_hand]]


def test_it_reads_a_few_at_a_time_until_nothing_is_left_behind_those_in_hand() -> None:
    ahead, waiting = Ahead(understood), deque(arrivals(1, 10 + FEW + 1))
    ahead.take(waiting, 10)

    assert ahead.understand_some(waiting, 10)
    assert len(ahead) == FEW
    assert ahead.understand_some(waiting, 10)
    assert len(ahead) == FEW + 1
    assert not ahead.understand_some(waiting, 10)
