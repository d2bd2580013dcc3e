"""Messages enter batches in order, and are weighed once."""

from collections import deque
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.batches import BATCH_BYTES, BATCH_MESSAGES, Bulk, LogBudgets, Weighed
from bridge.inbox import Arrival, Inbox, PutAside, Taken
from bridge.messages import DecodedMessage
from shared.client_logs.rules import Budget


class Understanding(Inbox):
    """An inbox that accepts every arrival."""

    def read(self, arrival: Arrival) -> Taken:
        return Taken(arrival, DecodedMessage(None, None))


class Watched(LogBudgets):
    """A bulk that records when its messages were weighed."""

    def __init__(self) -> None:
        super().__init__(Budget(per_second=1, burst=1))
        self.weighed: list[str] = []
        self.bulk = Bulk(Understanding("signage", "canary"), self)
        self.arrivals: deque[Arrival] = deque()
        self.fails = False
        self._next = 1

    def weigh(self, messages: Iterable[Taken | PutAside]) -> list[Weighed]:
        if self.fails:
            raise ValueError("no weight")
        found = [one for one in messages if isinstance(one, Taken)]
        self.weighed += [one.arrival.topic for one in found]
        return [*found]

    def arrive(self, count: int, payload: bytes = b"") -> None:
        numbers = range(self._next, self._next + count)
        self.arrivals.extend(Arrival(f"topic {number}", payload, number, 0.0) for number in numbers)
        self._next += count

    def take(self, most: int = BATCH_MESSAGES) -> list[str]:
        return [one.arrival.topic for one in self.bulk.take(self.arrivals, most) if isinstance(one, Taken)]

    def acknowledge(self) -> None:
        for _ in self.bulk.batch:
            self.arrivals.popleft()
        self.bulk.committed()


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("arrive"), st.integers(1, 300)),
        st.tuples(st.just("take"), st.integers(1, 200)),
        st.tuples(st.sampled_from(["commit", "lost"]), st.just(0)),
    ),
    max_size=40,
)


def test_an_error_while_a_batch_is_made_leaves_every_message_in_its_place() -> None:
    watched = Watched()
    watched.arrive(5)
    watched.fails = True
    with pytest.raises(ValueError, match="no weight"):
        watched.take(3)
    watched.fails = False

    assert watched.take(3) == ["topic 1", "topic 2", "topic 3"]
    watched.acknowledge()
    assert watched.take() == ["topic 4", "topic 5"]


@given(STEPS)
def test_a_batch_is_the_first_arrivals_in_their_order_and_weighed_once(
    steps: list[tuple[str, int]],
) -> None:
    """Like in the bridge, a batch, or its beginning, stays until it is committed.

    After a lost connection all messages come again.
    """
    watched = Watched()
    for step, number in steps:
        if step == "arrive":
            watched.arrive(number)
        elif step == "commit":
            watched.acknowledge()
        elif step == "lost":
            watched.bulk.dropped()
            watched.weighed.clear()
        else:
            before = len(watched.bulk.batch)
            taken = watched.take(number)
            waiting = [one.topic for one in watched.arrivals]
            assert taken == waiting[: min(number, before or len(waiting))]
            assert watched.weighed[watched.weighed.index(taken[0]) :][: len(taken)] == taken if taken else True
        assert len(watched.weighed) == len(set(watched.weighed))


def test_what_is_put_back_for_a_smaller_batch_is_the_next_one_and_not_weighed_again() -> None:
    watched = Watched()
    watched.arrive(10)
    assert len(watched.take(8)) == 8

    found = []
    for most in (3, 3, 3, 3):
        found.append(len(watched.take(most)))
        watched.acknowledge()

    assert found == [3, 3, 3, 1]
    assert watched.weighed == [f"topic {number}" for number in range(1, 11)]


@pytest.mark.parametrize(("size", "batch"), [(0, 100), (BATCH_BYTES // 10, 10), (BATCH_BYTES // 10 + 1, 9)])
def test_a_batch_has_so_many_bytes_and_no_more(size: int, batch: int) -> None:
    watched = Watched()
    watched.arrive(100, bytes(size))

    assert len(watched.take()) == batch


def test_one_message_is_a_batch_whatever_its_size() -> None:
    watched = Watched()
    watched.arrive(2, bytes(BATCH_BYTES + 1))

    assert len(watched.take()) == 1
