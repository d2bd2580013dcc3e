"""The bridge weighs only log messages, remembers only recent senders, and credits budgets for pauses."""

from bridge.batches import LogBudgets, OverBudget
from bridge.inbox import Arrival, PutAside, Taken
from bridge.messages import DecodedMessage
from shared.client_logs.rules import Boot, Budget, LogLine
from shared.clients.reports.rules import PresenceReport
from shared.vocabulary import DeadLetterReason, LogLevel, Presence

BUDGET = Budget(per_second=10, burst=20)


def log(heard: float, name: str = "a", seq: int | None = None) -> Taken:
    stamp = ("installation", 1, seq) if seq else (None, None, None)
    said = DecodedMessage(name, LogLine(name, heard, LogLevel.INFO, None, "m", False, None, None, None, *stamp))
    return Taken(Arrival(f"signage/{name}/logs/info", b"", 1, heard), said)


def stored(budgets: LogBudgets, count: int, heard: float, name: str = "a") -> int:
    """How many of `count` concurrent plain messages are within the budget."""
    return sum(isinstance(one, Taken) for one in budgets.weigh([log(heard, name)] * count))


def test_a_flood_costs_its_own_client_alone() -> None:
    budgets = LogBudgets(BUDGET)

    assert stored(budgets, 1000, 0.0) == 20
    assert stored(budgets, 20, 0.0, "b") == 20


def test_what_is_over_says_whether_it_is_lost() -> None:
    budgets = LogBudgets(BUDGET)
    stored(budgets, 20, 0.0)

    over = [OverBudget("a", is_numbered=False), OverBudget("a", is_numbered=True)]
    assert budgets.weigh([log(0.0), log(0.0, seq=7)]) == over


def test_presence_acks_and_dead_letters_of_a_flooding_client_pass() -> None:
    budgets = LogBudgets(BUDGET)
    stored(budgets, 100, 0.0)
    arrival = Arrival("signage/a/x", b"", 1, 0.0)
    others: list[Taken | PutAside] = [
        Taken(arrival, DecodedMessage("a", PresenceReport("a", Presence.ONLINE, None))),
        Taken(arrival, DecodedMessage("a", None)),
        PutAside("signage/a/logs/info", b"{", DeadLetterReason.NOT_JSON, None),
    ]

    assert budgets.weigh(others) == others


def test_only_clients_that_logged_lately_are_remembered_at_no_gain_for_them() -> None:
    budgets = LogBudgets(BUDGET)
    for number in range(1000):
        budgets.weigh([log(number / 100, f"client-{number}")])
    assert stored(budgets, 1000, 10.0, "flooding") == 20
    for moment in range(1, 50):
        now = 10.0 + moment / 2
        assert stored(budgets, 1000, now, "flooding") == 5
        assert len(budgets) <= 500
    assert len(budgets) == 1


def test_after_a_pause_what_gathered_meanwhile_is_within_the_budget() -> None:
    budgets = LogBudgets(BUDGET)
    budgets.took(0.0, {})
    stored(budgets, 20, 0.0)

    budgets.took(60.0, {})

    assert stored(budgets, 10_000, 60.0) == 20 + 60 * 10
    assert stored(budgets, 10_000, 61.0) == 10
    assert stored(budgets, 10_000, 500.0, "b") <= 20 + 60 * 10  # credited once ...
    assert stored(budgets, 10_000, 1000.0, "b") == 20  # ... and not for ever


def test_commits_that_follow_each_other_are_no_pause() -> None:
    budgets = LogBudgets(BUDGET)
    for second in range(0, 100, 10):
        budgets.took(float(second), {})

    assert stored(budgets, 1000, 100.0) == 20


def test_what_an_old_session_delivers_again_is_not_charged_twice() -> None:
    budgets = LogBudgets(BUDGET)
    stored(budgets, 20, 0.0)

    budgets.connected(1.0, pause_seconds=0.5, again=15)

    assert stored(budgets, 1000, 1.0) == 35


def test_what_is_stored_already_is_free_and_stands_in_nobodys_way() -> None:
    budgets = LogBudgets(BUDGET)
    for seq in range(1, 100):
        budgets.weigh([log(0.0, seq=seq)])
    budgets.took(0.0, {Boot("a", "installation", 1): 20})

    again = [isinstance(one, Taken) for one in budgets.weigh([log(0.5, seq=seq) for seq in range(11, 100)])]

    assert again == [True] * 10 + [True] * 5 + [False] * 74  # stored lines, then the tokens of half a second
