"""Messages understood before their turn come in their turn, and are weighed in it."""

from collections import deque

from hypothesis import given
from hypothesis import strategies as st

from bridge.bulk import FEW, Bulk, Understood
from bridge.inbox import Arrival, Taken
from bridge.messages import Said
from bridge.pace import BATCH_MESSAGES


class Watched:
    """A bulk of whose messages is known when they were weighed."""

    def __init__(self) -> None:
        self.weighed: list[str] = []
        self.bulk = Bulk(understood, self._weigh)
        self.arrivals: deque[Arrival] = deque()
        self._next = 1

    def _weigh(self, one: Understood) -> Understood:
        assert isinstance(one, Taken)
        self.weighed.append(one.arrival.topic)
        return one

    def arrive(self, count: int) -> None:
        numbers = range(self._next, self._next + count)
        self.arrivals.extend(Arrival(f"topic {number}", b"", number, 0.0) for number in numbers)
        self._next += count

    def take(self) -> list[str]:
        return [one.arrival.topic for one in self.bulk.take(self.arrivals) if isinstance(one, Taken)]

    def acknowledge(self) -> None:
        for _ in self.bulk.batch:
            self.arrivals.popleft()
        self.bulk.committed()


def understood(arrival: Arrival) -> Taken:
    return Taken(arrival, Said(None, None))


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("arrive"), st.integers(1, 3_000)),
        st.tuples(st.sampled_from(["read on", "take", "commit", "lost"]), st.just(0)),
    ),
    max_size=40,
)


@given(STEPS)
def test_whatever_is_understood_when_a_batch_is_the_first_arrivals_in_order_and_weighed_once(
    steps: list[tuple[str, int]],
) -> None:
    """As the bridge does it: a batch is in hand until it is committed, and a lost connection brings all again."""
    watched = Watched()
    for step, number in steps:
        if step == "arrive":
            watched.arrive(number)
        elif step == "read on":
            watched.bulk.understand_some(watched.arrivals)
        elif step == "commit":
            watched.acknowledge()
        elif step == "lost":
            watched.bulk.dropped()
        else:
            new, before = not watched.bulk.batch, len(watched.weighed)
            taken = watched.take()
            assert taken == [one.topic for one in watched.arrivals][: len(taken)]
            assert len(taken) == min(BATCH_MESSAGES, len(watched.arrivals)) or not new
            assert watched.weighed[before:] == (taken if new else [])


def test_it_understands_a_few_at_a_time_until_nothing_is_left_behind_the_batch_or_the_next_one_is_whole() -> None:
    watched = Watched()
    watched.arrive(10)
    watched.take()
    assert not watched.bulk.understand_some(watched.arrivals)

    watched.arrive(FEW + 1)
    assert [watched.bulk.understand_some(watched.arrivals) for _ in range(3)] == [True, True, False]
    watched.arrive(3 * BATCH_MESSAGES)
    rounds = 0
    while watched.bulk.understand_some(watched.arrivals):
        rounds += 1
    assert rounds <= BATCH_MESSAGES // FEW
