"""SQL of sign-ins at a provider: used tries, and who a person is there."""

from datetime import datetime

from sqlalchemy import Connection

from shared.postgres.query import NO_ROW, Query

USE_TRY = Query(
    """
    WITH over AS (DELETE FROM provider_tries WHERE used_at < :before)
    INSERT INTO provider_tries (state_hash, used_at) VALUES (:state_hash, :now) ON CONFLICT DO NOTHING
    """,
    NO_ROW,
)


def use_try(connection: Connection, state_hash: str, now: datetime, before: datetime) -> bool:
    """Use a try up, and delete those used before `before`. False when it was used already."""
    return USE_TRY.run(connection, state_hash=state_hash, now=now, before=before) == 1


LOCK_IDENTITY = Query("SELECT pg_advisory_xact_lock(hashtextextended(:identity, 0))", NO_ROW)


def lock_identity(connection: Connection, issuer: str, subject: str) -> None:
    """Let the sign-ins of one person go one after the other until the transaction ends."""
    LOCK_IDENTITY.run(connection, identity=f"provider identity:{issuer} {subject}")


USER_OF = Query("SELECT user_id FROM provider_identities WHERE issuer = :issuer AND subject = :subject", int)


def user_of(connection: Connection, issuer: str, subject: str) -> int | None:
    """The user who is this subject of this issuer."""
    return USER_OF.one_or_none(connection, issuer=issuer, subject=subject)


INSERT = Query(
    """
    INSERT INTO provider_identities (issuer, subject, user_id, created_at)
    VALUES (:issuer, :subject, :user_id, :now)
    """,
    NO_ROW,
)


def insert(connection: Connection, now: datetime, issuer: str, subject: str, user_id: int) -> None:
    """Store that this user is this subject of this issuer."""
    INSERT.run(connection, now=now, issuer=issuer, subject=subject, user_id=user_id)
