"""The rights of each component's role in the Postgres of a box, tried as that role."""

from collections.abc import Iterator
from typing import Final

from migrations.rights import VERBS, rights_of
from migrations.roles import TASK_QUEUE, WITH_ROLES
from tests.lab.campaigns.systemd_box import SECRETS, Box

NOBODY_MAY: Final = (
    "UPDATE audit_log SET actor = 'somebody else'",
    "DELETE FROM audit_log",
    "TRUNCATE audit_log",
    "DROP TABLE audit_log",
    "ALTER TABLE audit_log ADD COLUMN more text",
    "CREATE TABLE more ()",
    "CREATE ROLE more",
    "ALTER ROLE signage PASSWORD 'known'",
    "SET ROLE signage",
)
REFUSED: Final = ("permission denied", "must be owner")
RIGHTS: Final = f"""
SELECT relname, verb FROM pg_class, unnest(ARRAY{list(VERBS.values())!r}) AS verb
WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
AND has_table_privilege(oid, verb)
"""


def not_refused(box: Box) -> Iterator[str]:
    """Forbidden statements that a role could run, or that failed for another reason."""
    for component in WITH_ROLES:
        for statement in NOBODY_MAY:
            said = _asked(box, component, statement)
            if not any(words in said for words in REFUSED):
                yield f"{component}: {statement}: {said}"


def other_rights(box: Box) -> Iterator[str]:
    """Differences between a role's rights on a table and `migrations/rights.py`."""
    for component in WITH_ROLES:
        has = {tuple(line.split("|")) for line in _asked(box, component, RIGHTS).split()}
        told = dict(rights_of(component)) if component != TASK_QUEUE else {}
        given = {(table, verb) for table, verbs in told.items() for verb in verbs if not table.endswith("_seq")}
        if has != given:
            yield f"{component}: {sorted(has ^ given)}"


def _asked(box: Box, component: str, statement: str) -> str:
    """Run a statement with the component's own login. Returns the output of Postgres."""
    login = f'"$(cat {SECRETS}/database_url_{component})"'
    return box.run(f"psql --no-psqlrc --tuples-only --no-align {login} 2>&1 <<'SQL' || true\n{statement};\nSQL")
