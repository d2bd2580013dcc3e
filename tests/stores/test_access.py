"""Users, sessions, tokens and the audit log on real Postgres, also concurrently."""

import secrets
from datetime import datetime, timedelta

import pytest
import sqlalchemy as sa
from sqlalchemy import Connection, Engine

from shared.access import attempts_store, audit_store, operations, rules, store
from shared.access.people import store as people
from shared.access.rules import AuditLine, digest
from shared.errors import InvalidIdentity, TokenNotFound, TooManyAttempts
from shared.postgres.door import database_now, transaction
from shared.tables import api_tokens, audit_log, login_failures, users
from shared.vocabulary import PrincipalKind, Role
from tests.stores.parallel import at_once

HOUR = timedelta(hours=1)


@pytest.fixture
def now(connection: Connection) -> datetime:
    """The time of the test's transaction."""
    return database_now(connection)


def add_user(connection: Connection, now: datetime, name: str) -> int:
    assert people.insert_user(connection, now, name, "a hash", Role.OPERATOR, must_change_password=False)
    user = people.user_by_name(connection, name)
    assert user is not None
    return int(user.id)


# --- tokens ---


def test_a_token_is_its_holder_until_it_is_revoked(connection: Connection, now: datetime) -> None:
    row, text = operations.issue_token(connection, now, "ci", Role.OPERATOR, "user:anna", None)

    caller = operations.principal_of_token(connection, text)
    operations.revoke_token(connection, now, row.id)

    assert (caller.kind, caller.name, caller.role) == (PrincipalKind.TOKEN, "ci", Role.OPERATOR)
    with pytest.raises(InvalidIdentity):
        operations.principal_of_token(connection, text)


def test_the_database_never_holds_what_a_token_is_used_with(connection: Connection, now: datetime) -> None:
    row, text = operations.issue_token(connection, now, "ci", Role.VIEWER, "user:anna", None)

    stored = connection.execute(sa.select(api_tokens).where(api_tokens.c.id == row.id)).one()

    secret = text.split("_")[2]
    assert secret not in str(tuple(stored))
    assert stored.secret_hash == digest(secret)


def test_revoking_twice_keeps_the_first_time_and_an_unknown_token_is_named(
    connection: Connection, now: datetime
) -> None:
    row, _ = operations.issue_token(connection, now, "ci", Role.VIEWER, "user:anna", None)

    operations.revoke_token(connection, now - HOUR, row.id)
    operations.revoke_token(connection, now, row.id)

    stored = store.token_by_id(connection, row.id)
    assert stored is not None
    assert stored.revoked_at == now - HOUR
    with pytest.raises(TokenNotFound):
        operations.revoke_token(connection, now, "0" * 12)


def test_the_use_of_a_token_is_written_at_most_once_a_minute(connection: Connection, now: datetime) -> None:
    row, text = operations.issue_token(connection, now - HOUR, "ci", Role.VIEWER, "user:anna", None)

    operations.principal_of_token(connection, text)
    written = connection.execute(sa.select(api_tokens.c.last_used_at, sa.literal_column("ctid::text"))).one()
    operations.principal_of_token(connection, text)
    again = connection.execute(sa.select(api_tokens.c.last_used_at, sa.literal_column("ctid::text"))).one()

    assert written[0] == now
    assert again == written  # the very same row version
    store.note_token_use(connection, row.id, now + timedelta(seconds=61), now + timedelta(seconds=1))
    assert connection.execute(sa.select(api_tokens.c.last_used_at)).scalar_one() == now + timedelta(seconds=61)


def test_pages_of_tokens_hold_each_token_once(connection: Connection, now: datetime) -> None:
    issued = {operations.issue_token(connection, now, f"t{n}", Role.VIEWER, "x", None)[0].id for n in range(7)}

    seen: list[str] = []
    after = None
    while rows := store.tokens_page(connection, 3, after):
        seen += [row.id for row in rows]
        after = (rows[-1].created_at, rows[-1].id)

    assert len(seen) == len(set(seen)) == 7
    assert set(seen) == issued


# --- people ---


def test_the_first_admin_is_made_once(connection: Connection, now: datetime) -> None:
    connection.execute(sa.delete(users))

    first = operations.ensure_first_admin(connection, now, "admin", "a first password")
    second = operations.ensure_first_admin(connection, now, "other", "another password")

    assert (first, second) == (True, False)
    user = people.user_by_name(connection, "admin")
    assert user is not None
    assert user.must_change_password
    assert operations.password_is_right(user.password_hash, "a first password")
    assert people.user_by_name(connection, "other") is None


def test_of_several_first_starts_one_makes_the_admin(engine: Engine) -> None:
    def start() -> bool:
        with transaction(engine) as connection:
            name = f"admin-{secrets.token_hex(4)}"
            return operations.ensure_first_admin(connection, database_now(connection), name, "a first password")

    outcomes = at_once(6, start)

    assert sorted(map(bool, outcomes)) == [False] * 5 + [True]
    with transaction(engine) as connection:
        assert connection.execute(sa.select(sa.func.count()).select_from(users)).scalar_one() == 1
        connection.execute(sa.delete(users))


def test_a_password_is_kept_as_argon2id_and_an_unknown_user_has_none_that_is_right() -> None:
    hashed = operations.hash_password("correct horse battery")

    assert hashed.startswith("$argon2id$v=19$m=19456,t=2,p=1$")
    assert operations.password_is_right(hashed, "correct horse battery")
    assert not operations.password_is_right(hashed, "correct horse batterz")
    assert not operations.password_is_right(None, "correct horse battery")
    assert not operations.password_is_right("no hash at all", "correct horse battery")


def test_a_disabled_user_is_unknown_and_their_session_ends(connection: Connection, now: datetime) -> None:
    user_id = add_user(connection, now, "anna")
    cookie, _ = operations.open_session(connection, now, user_id, HOUR)
    assert operations.principal_of_session(connection, cookie).name == "anna"

    connection.execute(sa.update(users).where(users.c.id == user_id).values(disabled_at=now))

    assert people.user_by_name(connection, "anna") is None
    with pytest.raises(InvalidIdentity):
        operations.principal_of_session(connection, cookie)


def test_a_new_password_ends_every_other_session_of_that_user_only(connection: Connection, now: datetime) -> None:
    anna, bert = add_user(connection, now, "anna"), add_user(connection, now, "bert")
    here, _ = operations.open_session(connection, now, anna, HOUR)
    elsewhere, _ = operations.open_session(connection, now, anna, HOUR)
    berts, _ = operations.open_session(connection, now, bert, HOUR)
    user = people.user_by_name(connection, "anna")
    assert user is not None

    operations.change_password(connection, now, user, "a new hash", here)

    assert operations.principal_of_session(connection, here).name == "anna"
    assert operations.principal_of_session(connection, berts).name == "bert"
    with pytest.raises(InvalidIdentity):
        operations.principal_of_session(connection, elsewhere)


# --- the limit on failed sign-ins ---


def counters(username: str, address: str, *, is_known: bool = False) -> tuple[rules.Counter, ...]:
    return rules.sign_in_counters(username, address, is_known=is_known)


def try_in_vain(connection: Connection, now: datetime, tried: tuple[rules.Counter, ...]) -> None:
    operations.refuse_when_limited(connection, now, tried)
    operations.note_failure(connection, now, tried)


def test_five_failures_fill_the_address_and_empty_with_time(connection: Connection, now: datetime) -> None:
    for minute in range(5):
        operations.refuse_when_limited(connection, now, counters("anna", "198.18.0.1"))
        at = now + timedelta(minutes=minute)
        operations.note_failure(connection, at, counters("anna", "198.18.0.1"))
    later = now + timedelta(minutes=5)

    for name in ("anna", "bert"):
        with pytest.raises(TooManyAttempts) as refused:
            operations.refuse_when_limited(connection, later, counters(name, "198.18.0.1"))
        assert refused.value.extras == {"retry_after_seconds": 600}
    operations.refuse_when_limited(connection, later, counters("anna", "198.18.0.2"))
    operations.refuse_when_limited(connection, now + rules.FAILURES_COUNT_FOR, counters("anna", "198.18.0.1"))


def test_failures_from_many_addresses_lock_the_account_but_where_it_signed_in_before(
    connection: Connection, now: datetime
) -> None:
    for last in range(rules.MOST_FAILURES_OF_ACCOUNT):
        try_in_vain(connection, now, counters("anna", f"198.18.1.{last}"))

    with pytest.raises(TooManyAttempts):
        operations.refuse_when_limited(connection, now, counters("anna", "198.18.1.99"))
    known = counters("anna", "198.18.1.1", is_known=True)
    for _ in range(4):  # one failed attempt is already counted there
        try_in_vain(connection, now, known)
    with pytest.raises(TooManyAttempts):
        operations.refuse_when_limited(connection, now, known)


def test_strangers_behind_the_same_address_do_not_lock_out_who_signed_in_there(
    connection: Connection, now: datetime
) -> None:
    for number in range(5):
        try_in_vain(connection, now, counters(f"guess{number}", "198.18.2.1"))

    operations.refuse_when_limited(connection, now, counters("anna", "198.18.2.1", is_known=True))
    with pytest.raises(TooManyAttempts):
        operations.refuse_when_limited(connection, now, counters("anna", "198.18.2.1"))


def test_an_address_is_known_for_thirty_days_to_its_own_account_and_by_its_network(
    connection: Connection, now: datetime
) -> None:
    anna, _ = add_user(connection, now, "anna"), add_user(connection, now, "bert")
    attempts_store.note_address(connection, anna, rules.network_of("2001:db8::1"), now)

    def is_known(name: str, address: str, days: int = 0) -> bool:
        return operations.is_known_address(connection, now + timedelta(days=days), name, address)

    assert is_known("anna", "2001:db8::abcd:1", 29)
    assert not is_known("anna", "2001:db8::1", 30)
    assert not is_known("anna", "2001:db8:0:1::1")
    assert not is_known("bert", "2001:db8::1")
    assert not is_known("nobody", "2001:db8::1")


def test_many_failures_at_once_are_counted_one_by_one(engine: Engine) -> None:
    tried = counters(secrets.token_hex(4), "198.18.9.9")

    def fail() -> bool:
        with transaction(engine) as connection:
            now = database_now(connection)
            try_in_vain(connection, now, tried)
        return True

    outcomes = at_once(16, fail)

    assert outcomes.count(True) == 5
    with transaction(engine) as connection:
        counted = sa.select(sa.func.count()).where(login_failures.c.bucket == tried[0].bucket)
        assert connection.execute(counted).scalar_one() == 5


# --- the audit log ---


def test_the_audit_log_is_read_newest_first_and_by_what_is_asked_for(connection: Connection, now: datetime) -> None:
    connection.execute(sa.delete(audit_log))
    for number in range(5):
        actor = "user:anna" if number % 2 else "token:ci#aa"
        at = now + timedelta(seconds=number)
        line = AuditLine(actor, "token.create", f"token:{number}", "done", "r" * 32, {"number": number})
        operations.record_audit(connection, at, line)

    page = audit_store.page(connection, 2, None)
    rest = audit_store.page(connection, 10, (page[-1].at, page[-1].id))
    annas = audit_store.page(connection, 10, None, actor="user:anna")

    assert [row.details["number"] for row in (*page, *rest)] == [4, 3, 2, 1, 0]
    assert [row.details["number"] for row in annas] == [3, 1]
    assert audit_store.page(connection, 10, None, action="token.delete") == []
    assert [row.target for row in audit_store.page(connection, 10, None, target="token:2")] == ["token:2"]
