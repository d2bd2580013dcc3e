"""People: when somebody last signed in, and until when a password that was handed over opens anything."""

from alembic import op

revision = "0025_people"
down_revision = "0018_fleet_by_name"
branch_labels = None
depends_on = None
SURVIVES = {
    "ck_users_one_time of users is stricter: CHECK (((one_time_until IS NULL) OR must_change_password))": (
        "It does not: code of before could not set somebody's own password once an admin had handed one over."
        " 0034_old_passwords takes the constraint away."
    ),
}

UP = (
    """
    ALTER TABLE users
        ADD COLUMN last_sign_in_at timestamptz,
        ADD COLUMN one_time_until timestamptz,
        ADD CONSTRAINT ck_users_one_time CHECK (one_time_until IS NULL OR must_change_password)
    """,
)
DOWN = (
    """
    ALTER TABLE users
        DROP CONSTRAINT ck_users_one_time,
        DROP COLUMN last_sign_in_at,
        DROP COLUMN one_time_until
    """,
)


def upgrade() -> None:
    for statement in UP:
        op.execute(statement)


def downgrade() -> None:
    for statement in DOWN:
        op.execute(statement)
