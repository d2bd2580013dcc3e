"""Accounts of people on real Postgres: which person may change which account."""

import secrets
from datetime import datetime, timedelta
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy import Connection

from shared.access import operations as access
from shared.access import provider_operations
from shared.access.people import operations, rules, store
from shared.access.people.store import Person
from shared.access.provider_rules import ProviderPerson
from shared.access.rules import Principal, digest
from shared.errors import InvalidIdentity, LastAdmin, OwnAccount, UsernameTaken, UserNotFound
from shared.tables import provider_tries, user_sessions, users
from shared.vocabulary import PrincipalKind, Role
from tests.stores.people_world import A_TOKEN, CHANGES, HOUR, TAKES_THE_KEY, add, id_of, keyholders


@pytest.fixture
def nobody(connection: Connection) -> Connection:
    """A transaction without users."""
    connection.execute(sa.delete(user_sessions))
    connection.execute(sa.delete(users))
    return connection


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
    cora = provider_operations.let_in(nobody, now, at_provider(role=Role.ADMIN)).user
    disabled = add(nobody, "disabled")
    operations.change(nobody, now, A_TOKEN, id_of(disabled), disabled=True)

    for caller in (A_TOKEN, Principal(PrincipalKind.USER, str(cora.id), cora.username, Role.ADMIN)):
        with pytest.raises(LastAdmin):
            CHANGES[change](nobody, now, caller, id_of(anna))
    assert keyholders(nobody) == 1


def test_behind_a_proxy_an_admin_needs_no_password_to_be_the_one_who_stays(nobody: Connection, now: datetime) -> None:
    anna, bert = add(nobody, "anna"), add(nobody, "bert", own_password=False)

    operations.change(nobody, now, bert, id_of(anna), role=Role.VIEWER, by_proxy=True)

    with pytest.raises(LastAdmin):
        operations.change(nobody, now, A_TOKEN, id_of(bert), disabled=True, by_proxy=True)
    with pytest.raises(InvalidIdentity):
        operations.remove(nobody, anna, id_of(bert), by_proxy=True)


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


def test_a_sign_in_whose_password_was_replaced_meanwhile_is_refused(nobody: Connection, now: datetime) -> None:
    anna, bert = add(nobody, "anna"), add(nobody, "bert")
    looked_up = access.look_up(nobody, "bert")
    assert looked_up is not None

    operations.hand_over(nobody, now, anna, id_of(bert), "bert", "new hash", HOUR)

    with pytest.raises(InvalidIdentity):
        access.sign_in(nobody, now, looked_up, "198.18.0.1")


# --- who comes from a provider ---


def at_provider(**facts: Any) -> ProviderPerson:
    """A person as a provider describes them, a viewer called cora unless `facts` say otherwise."""
    return ProviderPerson(
        **{"issuer": "https://login.test", "subject": "1", "name": "cora", "role": Role.VIEWER, "sites": None, **facts}
    )


def test_who_somebody_is_is_their_issuer_and_subject_and_no_name(nobody: Connection, now: datetime) -> None:
    admin = add(nobody, "Cora")

    def come(**facts: Any) -> Person:
        return provider_operations.let_in(nobody, now, at_provider(**facts)).user

    cora, renamed = come(), come(name="another")
    others = [come(subject="2"), come(issuer="https://elsewhere.test")]

    assert renamed == cora
    assert (cora.role, cora.username.startswith("cora+")) == (Role.VIEWER, True)
    assert len({id_of(admin), cora.id, *(other.id for other in others)}) == 4


def test_each_sign_in_renews_the_role_and_the_sites(nobody: Connection, now: datetime) -> None:
    provider_operations.let_in(nobody, now, at_provider())

    for facts in ({"sites": ["Rome"]}, {"sites": None}, {"role": Role.OPERATOR}, {"role": Role.OPERATOR}):
        came = provider_operations.let_in(nobody, now, at_provider(**facts))
        assert (came.user.role, came.user.sites) == (facts.get("role", Role.VIEWER), facts.get("sites"))
    assert not came.changed  # the last time


def test_no_proxy_lets_somebody_in_by_the_name_that_they_chose_at_a_provider(nobody: Connection, now: datetime) -> None:
    provider_operations.let_in(nobody, now, at_provider(name="eve@example.com"))

    assert store.is_taken(nobody, "eve@example.com")
    assert store.user_by_email(nobody, "eve@example.com") is None


def test_a_try_is_used_up_once_and_remembered_until_it_is_over(nobody: Connection, now: datetime) -> None:
    old, fresh = provider_operations.begin(now), provider_operations.begin(now)
    assert provider_operations.use_up(nobody, now - timedelta(minutes=30), old)

    assert [provider_operations.use_up(nobody, now, fresh) for _ in range(2)] == [True, False]
    kept = sa.select(provider_tries.c.state_hash).where(
        provider_tries.c.state_hash.in_([digest(old.state), digest(fresh.state)])
    )
    assert list(nobody.execute(kept).scalars()) == [digest(fresh.state)]
