"""One-time codes and displays' logins on real Postgres: of any number of attempts, one succeeds."""

import base64
import secrets
import uuid
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta

import pytest
import sqlalchemy as sa
from sqlalchemy import Connection, Engine

from deploy.parts.probes import wait_until
from shared.access import enrolment_operations, enrolment_store
from shared.access.rules import mosquitto_hash, mosquitto_matches
from shared.errors import ClientDeleted, ClientNotFound, EnrolmentCodeInvalid, InvalidIdentity
from shared.postgres.door import database_now, transaction
from shared.tables import clients, display_logins, enrolment_codes
from shared.vocabulary import RegisteredBy
from tests.stores.parallel import at_once

pytestmark = pytest.mark.usefixtures("makers")

HOUR = timedelta(hours=1)


@pytest.fixture
def now(connection: Connection) -> datetime:
    """The time of the test's transaction."""
    return database_now(connection)


def new_client(connection: Connection, now: datetime, deleted_at: datetime | None = None) -> str:
    name = str(uuid.uuid4())
    by = RegisteredBy.FIRST_MESSAGE.value
    connection.execute(sa.insert(clients).values(uuid=name, registered_by=by, created_at=now, deleted_at=deleted_at))
    return name


def test_a_code_registers_a_new_client_and_gives_it_a_login_once(connection: Connection, now: datetime) -> None:
    name = str(uuid.uuid4())
    code, expires_at = enrolment_operations.issue_code(connection, now, name, "user:anna", timedelta(minutes=15))

    login = enrolment_operations.enrol(connection, now, code.lower().replace("-", " "))

    assert expires_at == now + timedelta(minutes=15)
    assert login.client_uuid == name
    stored = connection.execute(sa.select(display_logins).where(display_logins.c.client_uuid == name)).one()
    assert login.password not in stored.password_hash
    assert stored.password_hash.startswith("$7$101$")
    assert len(login.password) >= 43  # 32 random bytes
    with pytest.raises(EnrolmentCodeInvalid):
        enrolment_operations.enrol(connection, now, code)


def test_the_code_itself_is_not_in_the_database(connection: Connection, now: datetime) -> None:
    code, _ = enrolment_operations.issue_code(connection, now, str(uuid.uuid4()), "user:anna", HOUR)

    rows = connection.execute(sa.select(enrolment_codes)).all()

    assert code.replace("-", "") not in str(rows)


def test_an_expired_code_gives_nothing(connection: Connection, now: datetime) -> None:
    code, expires_at = enrolment_operations.issue_code(connection, now, str(uuid.uuid4()), "user:anna", HOUR)

    with pytest.raises(EnrolmentCodeInvalid):
        enrolment_operations.enrol(connection, expires_at, code)


def test_a_new_code_ends_the_one_before(connection: Connection, now: datetime) -> None:
    name = str(uuid.uuid4())
    first, _ = enrolment_operations.issue_code(connection, now, name, "user:anna", HOUR)
    second, _ = enrolment_operations.issue_code(connection, now, name, "user:anna", HOUR)

    with pytest.raises(EnrolmentCodeInvalid):
        enrolment_operations.enrol(connection, now, first)
    assert enrolment_operations.enrol(connection, now, second).client_uuid == name


def test_a_deleted_client_gets_no_code_and_an_old_code_gives_it_no_login(connection: Connection, now: datetime) -> None:
    gone = new_client(connection, now, deleted_at=now)
    with pytest.raises(ClientDeleted):
        enrolment_operations.issue_code(connection, now, gone, "user:anna", HOUR)

    leaving = new_client(connection, now)
    code, _ = enrolment_operations.issue_code(connection, now, leaving, "user:anna", HOUR)
    connection.execute(sa.update(clients).where(clients.c.uuid == leaving).values(deleted_at=now))
    with pytest.raises(EnrolmentCodeInvalid):
        enrolment_operations.enrol(connection, now, code)


def test_enrolling_again_replaces_the_login_and_brings_a_revoked_one_back(
    connection: Connection, now: datetime
) -> None:
    name = str(uuid.uuid4())
    passwords = []
    for _ in range(2):
        code, _ = enrolment_operations.issue_code(connection, now, name, "user:anna", HOUR)
        passwords.append(enrolment_operations.enrol(connection, now, code).password)
        assert enrolment_operations.revoke(connection, now, name)
    code, _ = enrolment_operations.issue_code(connection, now, name, "user:anna", HOUR)
    enrolment_operations.enrol(connection, now, code)

    stored = connection.execute(sa.select(display_logins).where(display_logins.c.client_uuid == name)).one()
    assert stored.revoked_at is None
    assert passwords[0] != passwords[1]


def test_revoking_ends_login_and_unused_codes_and_again_changes_nothing(connection: Connection, now: datetime) -> None:
    name = str(uuid.uuid4())
    code, _ = enrolment_operations.issue_code(connection, now, name, "user:anna", HOUR)
    enrolment_operations.enrol(connection, now, code)
    unused, _ = enrolment_operations.issue_code(connection, now, name, "user:anna", HOUR)

    assert enrolment_operations.revoke(connection, now, name)
    assert not enrolment_operations.revoke(connection, now + HOUR, name)

    stored = connection.execute(sa.select(display_logins).where(display_logins.c.client_uuid == name)).one()
    assert stored.revoked_at == now
    with pytest.raises(EnrolmentCodeInvalid):
        enrolment_operations.enrol(connection, now, unused)
    with pytest.raises(ClientNotFound):
        enrolment_operations.revoke(connection, now, str(uuid.uuid4()))


def test_of_fifty_tries_at_once_with_one_code_one_wins(engine: Engine) -> None:
    with transaction(engine) as connection:
        now = database_now(connection)
        code, _ = enrolment_operations.issue_code(connection, now, str(uuid.uuid4()), "user:anna", HOUR)

    def enrol() -> enrolment_operations.Login:
        with transaction(engine) as connection:
            return enrolment_operations.enrol(connection, database_now(connection), code)

    outcomes = at_once(50, enrol)

    winners = [outcome for outcome in outcomes if isinstance(outcome, enrolment_operations.Login)]
    losers = [outcome for outcome in outcomes if isinstance(outcome, EnrolmentCodeInvalid)]
    assert (len(winners), len(losers)) == (1, 49)
    with transaction(engine) as connection:
        stored = connection.execute(
            sa.select(display_logins.c.password_hash).where(display_logins.c.client_uuid == winners[0].client_uuid)
        ).scalar_one()
    salt = stored.split("$")[3]
    assert mosquitto_hash(winners[0].password, base64.b64decode(salt)) == stored


def test_codes_are_burnt_by_their_hash_only(connection: Connection, now: datetime) -> None:
    assert enrolment_store.burn_code(connection, "no such hash", now) is None


# --- rotation ---


def enrolled(connection: Connection, now: datetime) -> enrolment_operations.Login:
    code, _ = enrolment_operations.issue_code(connection, now, str(uuid.uuid4()), "user:anna", HOUR)
    return enrolment_operations.enrol(connection, now, code)


def stored_login(connection: Connection, name: str) -> str:
    query = sa.select(display_logins.c.password_hash).where(display_logins.c.client_uuid == name)
    return str(connection.execute(query).scalar_one())


def test_a_display_replaces_its_password_by_one_that_it_made(connection: Connection, now: datetime) -> None:
    login, new = enrolled(connection, now), secrets.token_urlsafe(32)

    assert enrolment_operations.rotate(connection, now, login.client_uuid, login.password, new)

    stored = stored_login(connection, login.client_uuid)
    assert mosquitto_matches(new, stored)
    assert not mosquitto_matches(login.password, stored)
    with pytest.raises(InvalidIdentity):
        enrolment_operations.rotate(connection, now, login.client_uuid, login.password, secrets.token_urlsafe(32))


def test_a_display_that_lost_the_answer_asks_again_and_is_told_the_same(connection: Connection, now: datetime) -> None:
    login, new = enrolled(connection, now), secrets.token_urlsafe(32)
    enrolment_operations.rotate(connection, now, login.client_uuid, login.password, new)
    stored = stored_login(connection, login.client_uuid)

    assert not enrolment_operations.rotate(connection, now, login.client_uuid, login.password, new)

    assert stored_login(connection, login.client_uuid) == stored


def test_who_has_no_live_login_or_another_password_rotates_nothing(connection: Connection, now: datetime) -> None:
    revoked, deleted, live = (enrolled(connection, now) for _ in range(3))
    assert enrolment_operations.revoke(connection, now, revoked.client_uuid)
    connection.execute(sa.update(clients).where(clients.c.uuid == deleted.client_uuid).values(deleted_at=now))
    stored = stored_login(connection, live.client_uuid)
    tries = {
        "revoked": (revoked.client_uuid, revoked.password),
        "deleted": (deleted.client_uuid, deleted.password),
        "unknown": (str(uuid.uuid4()), live.password),
        "wrong": (live.client_uuid, revoked.password),
    }

    said = set()
    for name, password in tries.values():
        with pytest.raises(InvalidIdentity) as refusal:
            enrolment_operations.rotate(connection, now, name, password, secrets.token_urlsafe(32))
        said.add(refusal.value.detail)

    assert len(said) == 1
    assert stored_login(connection, live.client_uuid) == stored


def test_of_fifty_rotations_at_once_with_one_password_one_wins(engine: Engine) -> None:
    with transaction(engine) as connection:
        login = enrolled(connection, database_now(connection))

    def rotate() -> str:
        new = secrets.token_urlsafe(32)
        with transaction(engine) as connection:
            assert enrolment_operations.rotate(
                connection, database_now(connection), login.client_uuid, login.password, new
            )
        return new

    outcomes = at_once(50, rotate)

    winners = [outcome for outcome in outcomes if isinstance(outcome, str)]
    assert len(winners) == 1
    assert sum(isinstance(outcome, InvalidIdentity) for outcome in outcomes) == 49
    with transaction(engine) as connection:
        assert mosquitto_matches(winners[0], stored_login(connection, login.client_uuid))


def test_a_rotation_does_not_bring_back_a_login_that_is_being_revoked(engine: Engine) -> None:
    with transaction(engine) as connection:
        login = enrolled(connection, database_now(connection))

    def rotate() -> bool:
        with transaction(engine) as connection:
            now, new = database_now(connection), secrets.token_urlsafe(32)
            return enrolment_operations.rotate(connection, now, login.client_uuid, login.password, new)

    with ThreadPoolExecutor(1) as other:
        with transaction(engine) as connection:
            assert enrolment_operations.revoke(connection, database_now(connection), login.client_uuid)
            rotation = other.submit(rotate)  # sees the old login, and waits for its row
            wait_until(lambda: waits_for_a_row(connection), 60)
        with pytest.raises(InvalidIdentity):
            rotation.result(60)
    with transaction(engine) as connection:
        assert enrolment_store.live_login(connection, login.client_uuid) is None


def waits_for_a_row(connection: Connection) -> bool:
    """Whether another transaction waits for this one."""
    held = sa.text("SELECT count(*) FROM pg_stat_activity WHERE pg_backend_pid() = ANY(pg_blocking_pids(pid))")
    return bool(connection.execute(held).scalar_one())
