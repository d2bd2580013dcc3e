"""Names are written in one way (`shared.names`): what older code stored otherwise is folded, and the audit log says so.

Names that become the same are one from now on: tags of a display, sites of a person. Of two opening hours of one place
the older ones end. A second open incident of a site stays until its displays are well. A downgrade leaves the names
folded.

Channels also hear of a site that lost its last display while things name it; a function tells the tick what does.
"""

import json
from collections.abc import Iterator
from typing import Any, Final

import sqlalchemy as sa
from alembic import op

from shared.names import folded

revision = "0066_names_are_keys"
down_revision = "0068_turns_of_conversions"
branch_labels = None
depends_on = None

EVENTS: Final = (
    "service_failed,screen_bad,connection_unsteady,certificate_old,certificate_ending,limit_passed,login_shared"
)
BEFORE, AFTER = f"'{{{EVENTS}}}'", f"'{{{EVENTS},site_emptied}}'"

SURVIVES = {
    f"notification_channels.newer_events is {AFTER}::text[] where nothing is said, and was {BEFORE}::text[]": (
        "Channels that older code makes get these messages too; that code does not read the new word."
    )
}

NAMES_OF_EMPTY_SITES = """
    CREATE FUNCTION names_of_empty_sites() RETURNS TABLE (site text, what text, count bigint)
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
        SELECT named.site, named.what, count(*) FROM (
            SELECT unnest(u.sites), 'person' FROM users AS u WHERE u.disabled_at_sites IS NULL
            UNION ALL SELECT unnest(t.sites), 'token' FROM api_tokens AS t
                WHERE t.revoked_at_sites IS NULL AND (t.expires_at IS NULL OR t.expires_at > now())
            UNION ALL SELECT unnest(c.sites), 'channel' FROM notification_channels AS c WHERE c.enabled
            UNION ALL SELECT q.site, 'quiet_time' FROM quiet_times AS q
                WHERE q.scope = 'site' AND q.ended_at IS NULL AND (q.ends_at IS NULL OR q.ends_at > now())
            UNION ALL SELECT s.filter ->> 'site', 'schedule' FROM command_schedules AS s
                WHERE s.next_at IS NOT NULL AND s.cancelled_at IS NULL
            UNION ALL SELECT l.site, 'status_link' FROM status_links AS l WHERE l.ended_at IS NULL
            UNION ALL SELECT o.site, 'pictures_off' FROM screenshots_off AS o
        ) AS named (site, what)
        WHERE named.site <> ''
            AND NOT EXISTS (SELECT FROM clients AS c WHERE c.site = named.site AND c.deleted_at IS NULL)
        GROUP BY named.site, named.what
    $$
    """

OF_SITES: Final = """
    SELECT site FROM clients WHERE site IS NOT NULL UNION SELECT site FROM status_links
    UNION SELECT site FROM quiet_times WHERE site IS NOT NULL UNION SELECT key FROM incidents WHERE kind = 'site'
    UNION SELECT site FROM recovery_breakers UNION SELECT site FROM screenshots_off
    UNION SELECT filter ->> 'site' FROM command_schedules WHERE filter ? 'site'
    UNION SELECT unnest(sites) FROM users UNION SELECT unnest(sites) FROM api_tokens
    UNION SELECT unnest(sites) FROM notification_channels
    """
OF_TAGS: Final = """
    SELECT unnest(tags) FROM clients UNION SELECT tag FROM quiet_times WHERE tag IS NOT NULL
    UNION SELECT filter ->> 'tag' FROM command_schedules WHERE filter ? 'tag'
    """
OF_UNITS: Final = "SELECT DISTINCT service_failed_unit FROM clients WHERE service_failed_unit IS NOT NULL"
OF_SEARCHES: Final = "SELECT DISTINCT filter ->> 'q' FROM command_schedules WHERE filter ? 'q'"


def _in_list(table: str, column: str) -> str:
    """SQL: the name in a list, each once, where it first stood."""
    return f"""
        UPDATE {table} SET {column} = ARRAY(
            SELECT one FROM (
                SELECT CASE WHEN given = :before THEN :after ELSE given END AS one, place
                FROM unnest({column}) WITH ORDINALITY AS listed (given, place)) AS named
            GROUP BY one ORDER BY min(place))
        WHERE :before = ANY({column})"""  # noqa: S608 - made of constants


def _hours(column: str) -> str:
    """SQL: of two opening hours of one place those under the folded name hold."""
    return f"""
        UPDATE quiet_times AS q SET ended_at = greatest(now(), q.starts_at), ended_by = 'service'
        WHERE q.{column} = :before AND q.preset = 'opening_hours' AND q.ended_at IS NULL AND EXISTS (
            SELECT FROM quiet_times AS o
            WHERE o.{column} = :after AND o.preset = 'opening_hours' AND o.ended_at IS NULL)"""  # noqa: S608 - made of constants


def _in_filter(field: str) -> str:
    return f"""
        UPDATE command_schedules SET filter = jsonb_set(filter, '{{{field}}}', to_jsonb(CAST(:after AS text)))
        WHERE filter ->> '{field}' = :before"""  # noqa: S608 - made of constants


SITE_STATEMENTS: Final = (
    "UPDATE clients SET site = :after WHERE site = :before",
    "UPDATE status_links SET site = :after WHERE site = :before",
    _hours("site"),
    "UPDATE quiet_times SET site = :after WHERE site = :before",
    """
    UPDATE incidents SET key = :after WHERE kind = 'site' AND key = :before AND NOT (closed_at IS NULL AND EXISTS (
        SELECT FROM incidents AS o WHERE o.kind = 'site' AND o.key = :after AND o.closed_at IS NULL))
    """,
    """
    DELETE FROM recovery_breakers
    WHERE site = :before AND EXISTS (SELECT FROM recovery_breakers AS o WHERE o.site = :after)
    """,
    "UPDATE recovery_breakers SET site = :after WHERE site = :before",
    """
    WITH was AS (DELETE FROM screenshots_off WHERE site = :before RETURNING since, "by")
    INSERT INTO screenshots_off (site, since, "by") SELECT :after, since, "by" FROM was ON CONFLICT (site) DO NOTHING
    """,
    _in_filter("site"),
    _in_list("users", "sites"),
    _in_list("api_tokens", "sites"),
    _in_list("notification_channels", "sites"),
)
TAG_STATEMENTS: Final = (
    _in_list("clients", "tags"),
    _hours("tag"),
    "UPDATE quiet_times SET tag = :after WHERE tag = :before",
    _in_filter("tag"),
)
UNIT_STATEMENTS: Final = ("UPDATE clients SET service_failed_unit = :after WHERE service_failed_unit = :before",)


def upgrade() -> None:
    """Add function and event, and fold the names."""
    op.execute(NAMES_OF_EMPTY_SITES)
    op.execute(f"ALTER TABLE notification_channels ALTER COLUMN newer_events SET DEFAULT {AFTER}")
    op.execute(
        """
        UPDATE notification_channels SET newer_events = newer_events || '{site_emptied}'::text[]
        WHERE 'display_unwell' = ANY(events) AND 'site_emptied' <> ALL(newer_events)
        """
    )
    fold()


def downgrade() -> None:
    """Remove function and event. Messages about sites without displays count as settled."""
    op.execute("UPDATE notification_channels SET newer_events = array_remove(newer_events, 'site_emptied')")
    op.execute(f"ALTER TABLE notification_channels ALTER COLUMN newer_events SET DEFAULT {BEFORE}")
    op.execute("UPDATE notification_deliveries SET standing = false WHERE standing AND root LIKE 'empty_site:%'")
    op.execute("DROP FUNCTION names_of_empty_sites()")


def fold() -> None:
    """Fold every stored name. A second time it finds nothing to do."""
    for kind, names, statements in (
        ("site", OF_SITES, SITE_STATEMENTS),
        ("tag", OF_TAGS, TAG_STATEMENTS),
        ("unit", OF_UNITS, UNIT_STATEMENTS),
        ("search", OF_SEARCHES, (_in_filter("q"),)),
    ):
        for before, after, is_joined in _changes(names):
            if sum(_run(statement, before=before, after=after) for statement in statements):
                _report(kind, before, after, is_joined)
    for uuid, before, after in _changed("SELECT uuid, name FROM clients"):
        _run("UPDATE clients SET name = :after WHERE uuid = :key", key=uuid, before=before, after=after)
    for number, before, after in _changed("SELECT id, name FROM notification_channels ORDER BY id"):
        taken = sa.text("SELECT EXISTS (SELECT FROM notification_channels WHERE name = :name)")
        if op.get_bind().execute(taken, {"name": after}).scalar_one():
            after = f"{after} ({number})"  # noqa: PLW2901 - a channel's name stands once
        _run("UPDATE notification_channels SET name = :after WHERE id = :key", key=number, after=after)
        _report("channel", before, after, False)


def _changes(names: str) -> Iterator[tuple[str, str, bool]]:
    """The names that change, how they are written from now on, and whether another one is written like this, too."""
    there = set(op.get_bind().execute(sa.text(names)).scalars())
    for before in sorted(there):
        after = folded(before)
        if after and after != before:  # a name of which nothing is left matches nothing, as before
            yield before, after, any(folded(other) == after for other in there - {before})


def _changed(rows: str) -> Iterator[tuple[Any, str, str]]:
    for key, before in op.get_bind().execute(sa.text(rows)).all():
        if (after := folded(before)) and after != before:
            yield key, before, after


def _run(statement: str, **values: Any) -> int:
    """Run a statement with those of the values that it names. Returns how many rows it touched."""
    named = sa.text(statement)
    used = {name: value for name, value in values.items() if name in named.compile().params}
    return int(op.get_bind().execute(named, used).rowcount)


def _report(kind: str, before: str, after: str, is_joined: bool) -> None:
    """Say in the audit log how a name was written: with escapes, because both look alike."""
    details = {"was": before.encode("unicode_escape").decode(), "joined": is_joined}
    _run(
        """
        INSERT INTO audit_log (at, actor, action, target, result, details)
        VALUES (now(), 'service', 'name.fold', :target, 'done', CAST(:details AS jsonb))
        """,
        target=f"{kind}:{after}",
        details=json.dumps(details),
    )
