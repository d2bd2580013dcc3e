"""Concurrent changes of accounts, also with a sign-in: the result is as if one came first."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
import sqlalchemy as sa
from sqlalchemy import Engine

from shared.access import operations as access
from shared.access import provider_operations
from shared.access.people import operations
from shared.access.provider_operations import LetIn
from shared.access.provider_rules import ProviderPerson
from shared.access.rules import Principal
from shared.errors import InvalidIdentity, LastAdmin, ServiceError, UsernameTaken
from shared.postgres.door import database_now, transaction
from shared.tables import user_sessions, users
from shared.vocabulary import Role
from tests.stores.parallel import at_once
from tests.stores.people_world import A_TOKEN, CHANGES, HOUR, TAKES_THE_KEY, add, id_of, keyholders


@pytest.fixture
def empty(engine: Engine) -> Iterator[Engine]:
    """A database without users, for concurrent tests."""

    def clear() -> None:
        with transaction(engine) as connection:
            connection.execute(sa.delete(user_sessions))
            connection.execute(sa.delete(users))

    clear()
    yield engine
    clear()


def pair(engine: Engine, one: Callable[[], object], other: Callable[[], object]) -> list[object]:
    """Start two functions at the same moment. Returns their results and refusals."""
    gate = threading.Barrier(2)

    def begun(work: Callable[[], object]) -> object:
        gate.wait(60)
        try:
            return work()
        except ServiceError as error:
            return error

    with ThreadPoolExecutor(2) as pool:
        return [future.result(60) for future in [pool.submit(begun, one), pool.submit(begun, other)]]


@pytest.mark.parametrize("change", TAKES_THE_KEY)
@pytest.mark.parametrize("by", ["each other", "a token"])
def test_of_two_last_admins_one_stays_when_both_are_taken_at_once(empty: Engine, change: str, by: str) -> None:
    for _ in range(8):
        with transaction(empty) as connection:
            connection.execute(sa.delete(users))
            anna, bert = add(connection, "anna"), add(connection, "bert")

        def take(caller: Principal, target: Principal) -> None:
            with transaction(empty) as connection:
                CHANGES[change](connection, database_now(connection), caller, id_of(target))

        callers = (anna, bert) if by == "each other" else (A_TOKEN, A_TOKEN)
        outcomes = pair(empty, lambda: take(callers[0], bert), lambda: take(callers[1], anna))  # noqa: B023

        refused = [outcome for outcome in outcomes if outcome is not None]
        assert [type(outcome) for outcome in refused] == [InvalidIdentity if by == "each other" else LastAdmin]
        with transaction(empty) as connection:
            assert keyholders(connection) == 1


def test_two_admins_who_reset_each_other_at_once_do_not_both_lose_their_password(empty: Engine) -> None:
    with transaction(empty) as connection:
        anna, bert = add(connection, "anna"), add(connection, "bert")

    def reset(caller: Principal, target: Principal) -> None:
        with transaction(empty) as connection:
            operations.hand_over(
                connection, database_now(connection), caller, id_of(target), target.name, "new hash", HOUR
            )

    outcomes = pair(empty, lambda: reset(anna, bert), lambda: reset(bert, anna))

    assert sorted(type(outcome).__name__ for outcome in outcomes) == ["InvalidIdentity", "NoneType"]


def test_of_many_who_add_the_same_person_one_does(empty: Engine) -> None:
    spellings = iter(["carla", "Carla", "CARLA", "cArla", "caRla", "carLa"])
    lock = threading.Lock()

    def one() -> str:
        with lock:
            name = next(spellings)
        with transaction(empty) as connection:
            operations.add(connection, database_now(connection), name, Role.VIEWER, "a hash", HOUR)
        return name

    outcomes = at_once(6, one)

    assert sum(isinstance(outcome, str) for outcome in outcomes) == 1
    assert sum(isinstance(outcome, UsernameTaken) for outcome in outcomes) == 5


def test_first_sign_ins_of_one_person_at_once_make_one_account_and_all_succeed(empty: Engine) -> None:
    """Those who find the account lock its row and then write it: nobody who has the table may wait for that row."""
    for turn in range(15):
        person = ProviderPerson("https://login.example", f"subject {turn}", f"dora {turn}", Role.VIEWER, None)

        def sign_in() -> LetIn:
            with transaction(empty) as connection:
                return provider_operations.let_in(connection, database_now(connection), person)  # noqa: B023

        outcomes = at_once(8, sign_in)

        let_in = [outcome for outcome in outcomes if isinstance(outcome, LetIn)]
        assert len(let_in) == 8, outcomes
        assert len({outcome.user.id for outcome in let_in}) == 1
        assert [outcome.is_new for outcome in let_in].count(True) == 1


@pytest.mark.parametrize("change", ["disable", "hand over", "remove"])
def test_a_sign_in_at_the_same_moment_leaves_no_session_behind(empty: Engine, change: str) -> None:
    """Whichever comes first, no session that began with the old password is live afterwards."""
    for _ in range(12):
        with transaction(empty) as connection:
            connection.execute(sa.delete(user_sessions))
            connection.execute(sa.delete(users))
            anna, bert = add(connection, "anna"), add(connection, "bert")
            looked_up = access.look_up(connection, "bert")
        assert looked_up is not None

        def sign_in() -> None:
            with transaction(empty) as connection:
                now = database_now(connection)
                user = access.sign_in(connection, now, looked_up, "198.18.0.1")  # noqa: B023
                access.open_session(connection, now, user.id, HOUR)

        def end() -> None:
            with transaction(empty) as connection:
                CHANGES[change](connection, database_now(connection), anna, id_of(bert))  # noqa: B023

        outcomes = pair(empty, sign_in, end)

        assert outcomes[1] is None
        with transaction(empty) as connection:
            live = sa.select(sa.func.count()).where(
                user_sessions.c.user_id == id_of(bert), user_sessions.c.revoked_at.is_(None)
            )
            assert connection.execute(live).scalar_one() == 0
