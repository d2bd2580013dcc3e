"""Code that knows no one-time passwords can set somebody's own again.

It clears `must_change_password` and leaves `one_time_until` as it is, which a constraint forbade: whoever met an
instance of before 0025_people during an upgrade could not replace the password that they were handed. What stays of
`one_time_until` then counts for nothing (`shared/access/people/store.py`).
"""

from alembic import op

revision = "0034_old_passwords"
down_revision = "0033_stopped_clients"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("ALTER TABLE users DROP CONSTRAINT ck_users_one_time")


def downgrade() -> None:
    op.execute("UPDATE users SET one_time_until = NULL WHERE NOT must_change_password")
    op.execute(
        "ALTER TABLE users ADD CONSTRAINT ck_users_one_time CHECK (one_time_until IS NULL OR must_change_password)"
    )
