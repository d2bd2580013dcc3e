"""SQL of sign-ins at a provider: used tries, and who a person is there."""

from datetime import datetime

from sqlalchemy import Connection

from shared.postgres import query
from shared.postgres.query import NO_ROW, Query


@query.run(
    """
    WITH over AS (DELETE FROM provider_tries WHERE used_at < :before)
    INSERT INTO provider_tries (state_hash, used_at) VALUES (:state_hash, :now) ON CONFLICT DO NOTHING
    """
)
def use_try(connection: Connection, state_hash: str, now: datetime, before: datetime) -> bool:
    """Use a try up, and delete those used before `before`. False when it was used already."""


LOCK_IDENTITY = Query("SELECT pg_advisory_xact_lock(hashtextextended(:identity, 0))", NO_ROW)


def lock_identity(connection: Connection, issuer: str, subject: str) -> None:
    """Let the sign-ins of one person go one after the other until the transaction ends."""
    LOCK_IDENTITY.run(connection, identity=f"provider identity:{issuer} {subject}")


@query.one_or_none("SELECT user_id FROM provider_identities WHERE issuer = :issuer AND subject = :subject")
def user_of(connection: Connection, issuer: str, subject: str) -> int | None:
    """The user who is this subject of this issuer."""


@query.run(
    """
    INSERT INTO provider_identities (issuer, subject, user_id, created_at)
    VALUES (:issuer, :subject, :user_id, :now)
    """
)
def insert(connection: Connection, now: datetime, issuer: str, subject: str, user_id: int) -> None:
    """Store that this user is this subject of this issuer."""
