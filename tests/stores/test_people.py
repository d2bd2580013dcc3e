"""Accounts of people on real Postgres: who may be changed by whom, also by two at once."""

import secrets
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta

import pytest
import sqlalchemy as sa
from sqlalchemy import Connection, Engine

from shared.access import operations as access
from shared.access.people import operations, rules, store
from shared.access.rules import Principal
from shared.db import database_now, transaction
from shared.errors import InvalidIdentity, LastAdmin, OwnAccount, ServiceError, UsernameTaken, UserNotFound
from shared.tables import user_sessions, users
from shared.vocabulary import PrincipalKind, Role
from tests.stores.parallel import at_once

HOUR = timedelta(hours=1)
A_TOKEN = Principal(PrincipalKind.TOKEN, "aabbccddeeff", "scripts", Role.ADMIN)


@pytest.fixture
def nobody(connection: Connection) -> Connection:
    """A transaction that sees no users."""
    connection.execute(sa.delete(user_sessions))
    connection.execute(sa.delete(users))
    return connection


@pytest.fixture
def empty(engine: Engine) -> Iterator[Engine]:
    """A database without users, for tests by many at once."""

    def clear() -> None:
        with transaction(engine) as connection:
            connection.execute(sa.delete(user_sessions))
            connection.execute(sa.delete(users))

    clear()
    yield engine
    clear()


def add(connection: Connection, name: str, role: Role = Role.ADMIN, *, own_password: bool = True) -> Principal:
    """Somebody with a password of their own, or with one that was handed over."""
    now = database_now(connection)
    until = None if own_password else now + HOUR
    user = store.insert_user(connection, now, name, f"hash of {name}", role, not own_password, until)
    assert user is not None
    return Principal(PrincipalKind.USER, str(user.id), name, role)


def id_of(person: Principal) -> int:
    return int(person.id)


def keyholders(connection: Connection) -> int:
    return len(store.lock_keyholders(connection))


# --- what one admin may do ---


def test_somebody_added_has_a_one_time_password_until_they_set_their_own(nobody: Connection, now: datetime) -> None:
    user = operations.add(nobody, now, "bert", Role.OPERATOR, "a hash", HOUR)

    found = access.look_up(nobody, "bert")
    assert found is not None
    assert (user.must_change_password, user.one_time_until) == (True, now + HOUR)
    access.change_password(nobody, now, found, "own hash", "no cookie")
    own = access.look_up(nobody, "bert")
    assert own is not None
    assert (own.must_change_password, own.one_time_until) == (False, None)


def test_a_one_time_password_opens_nothing_after_its_time(nobody: Connection, now: datetime) -> None:
    operations.add(nobody, now - HOUR, "bert", Role.OPERATOR, "a hash", HOUR)
    operations.add(nobody, now - HOUR, "carla", Role.OPERATOR, "a hash", HOUR + timedelta(seconds=1))

    assert access.look_up(nobody, "bert") is None
    assert access.look_up(nobody, "carla") is not None


@pytest.mark.parametrize("name", ["bert", "BERT", "Bert"])
def test_a_name_is_given_once_whatever_its_capitals(nobody: Connection, now: datetime, name: str) -> None:
    operations.add(nobody, now, "bert", Role.OPERATOR, "a hash", HOUR)

    with pytest.raises(UsernameTaken):
        operations.add(nobody, now, name, Role.ADMIN, "another hash", HOUR)


Change = Callable[[Connection, datetime, Principal, int], object]
CHANGES: dict[str, Change] = {
    "demote": lambda c, now, caller, target: operations.change(c, now, caller, target, role=Role.VIEWER),
    "disable": lambda c, now, caller, target: operations.change(c, now, caller, target, disabled=True),
    "remove": lambda c, _now, caller, target: operations.remove(c, caller, target),
    "hand over": lambda c, now, caller, target: operations.hand_over(c, now, caller, target, "new hash", HOUR),
}
TAKES_THE_KEY = ("demote", "disable", "remove")


@pytest.mark.parametrize("change", CHANGES)
def test_nobody_does_it_to_their_own_account(nobody: Connection, now: datetime, change: str) -> None:
    anna, _ = add(nobody, "anna"), add(nobody, "bert")

    with pytest.raises(OwnAccount):
        CHANGES[change](nobody, now, anna, id_of(anna))


@pytest.mark.parametrize("change", TAKES_THE_KEY)
def test_the_last_admin_with_a_password_of_their_own_stays(nobody: Connection, now: datetime, change: str) -> None:
    anna = add(nobody, "anna")
    add(nobody, "never signed in", own_password=False)
    add(nobody, "operator", Role.OPERATOR)
    disabled = add(nobody, "disabled")
    operations.change(nobody, now, A_TOKEN, id_of(disabled), disabled=True)

    with pytest.raises(LastAdmin):
        CHANGES[change](nobody, now, A_TOKEN, id_of(anna))
    assert keyholders(nobody) == 1


@pytest.mark.parametrize("change", CHANGES)
def test_an_admin_does_it_to_another_one_and_all_their_sessions_end(
    nobody: Connection, now: datetime, change: str
) -> None:
    anna, bert = add(nobody, "anna"), add(nobody, "bert")
    cookies = [access.open_session(nobody, now, id_of(bert), HOUR)[0] for _ in range(2)]
    mine, _ = access.open_session(nobody, now, id_of(anna), HOUR)

    CHANGES[change](nobody, now, anna, id_of(bert))

    for cookie in cookies:
        with pytest.raises(InvalidIdentity):
            access.principal_of_session(nobody, cookie)
    assert access.principal_of_session(nobody, mine).name == "anna"


def test_enabling_again_revives_no_session(nobody: Connection, now: datetime) -> None:
    anna, bert = add(nobody, "anna"), add(nobody, "bert", Role.OPERATOR)
    cookie, _ = access.open_session(nobody, now, id_of(bert), HOUR)

    operations.change(nobody, now, anna, id_of(bert), disabled=True)
    back = operations.change(nobody, now, anna, id_of(bert), disabled=False)

    assert (back.disabled, back.user.disabled_at) == (False, None)
    with pytest.raises(InvalidIdentity):
        access.principal_of_session(nobody, cookie)


def test_what_is_so_already_changes_nothing_and_ends_no_session(nobody: Connection, now: datetime) -> None:
    anna, bert = add(nobody, "anna"), add(nobody, "bert", Role.OPERATOR)
    cookie, _ = access.open_session(nobody, now, id_of(bert), HOUR)

    changed = operations.change(nobody, now, anna, id_of(bert), role=Role.OPERATOR, disabled=False)

    assert (changed.role, changed.disabled, changed.sessions_ended) == (None, None, 0)
    assert access.principal_of_session(nobody, cookie).name == "bert"


def test_disabling_twice_keeps_the_first_time(nobody: Connection, now: datetime) -> None:
    anna, bert = add(nobody, "anna"), add(nobody, "bert")

    operations.change(nobody, now - HOUR, anna, id_of(bert), disabled=True)
    again = operations.change(nobody, now, anna, id_of(bert), role=Role.VIEWER, disabled=True)

    assert (again.user.disabled_at, again.role, again.disabled) == (now - HOUR, Role.VIEWER, None)


def test_somebody_who_is_not_there_is_named(nobody: Connection, now: datetime) -> None:
    add(nobody, "anna")

    for change in CHANGES.values():
        with pytest.raises(UserNotFound):
            change(nobody, now, A_TOKEN, 2**62)


def test_people_are_listed_by_name_and_each_once(nobody: Connection) -> None:
    names = sorted(f"{secrets.token_hex(3)}" for _ in range(7))
    for name in names:
        add(nobody, name)

    seen: list[str] = []
    while rows := store.page(nobody, 3, seen[-1] if seen else None):
        seen += [row.username for row in rows]

    assert seen == names


def test_one_time_passwords_are_long_readable_and_never_the_same() -> None:
    made = {operations.new_one_time_password() for _ in range(200)}

    assert len(made) == 200
    assert {len(one.replace("-", "")) for one in made} == {16}
    assert set("".join(made)) - {"-"} <= set(rules.ONE_TIME_ALPHABET)
    assert not set("01lio") & set(rules.ONE_TIME_ALPHABET)


# --- two at once ---


def pair(engine: Engine, one: Callable[[], object], other: Callable[[], object]) -> list[object]:
    """What became of two pieces of work begun at the same moment."""
    gate = threading.Barrier(2)

    def begun(work: Callable[[], object]) -> object:
        gate.wait(10)
        try:
            return work()
        except ServiceError as error:
            return error

    with ThreadPoolExecutor(2) as pool:
        return [future.result(30) for future in [pool.submit(begun, one), pool.submit(begun, other)]]


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
            operations.hand_over(connection, database_now(connection), caller, id_of(target), "new hash", HOUR)

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


@pytest.mark.parametrize("change", ["disable", "hand over", "remove"])
def test_a_sign_in_at_the_same_moment_leaves_no_session_behind(empty: Engine, change: str) -> None:
    """Whichever of the two comes first: no session that began with the old password is live afterwards."""
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
                user = access.sign_in(connection, now, looked_up)  # noqa: B023
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


def test_a_sign_in_whose_password_was_replaced_meanwhile_is_refused(nobody: Connection, now: datetime) -> None:
    anna, bert = add(nobody, "anna"), add(nobody, "bert")
    looked_up = access.look_up(nobody, "bert")
    assert looked_up is not None

    operations.hand_over(nobody, now, anna, id_of(bert), "new hash", HOUR)

    with pytest.raises(InvalidIdentity):
        access.sign_in(nobody, now, looked_up)
