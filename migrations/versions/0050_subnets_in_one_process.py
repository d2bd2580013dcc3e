"""`subnet_of` catches an error, so it begins a subtransaction, which no parallel query may do.

On a fleet of tens of thousands Postgres chose a parallel plan, and the step of the tick that groups failures failed.
The index goes because nothing has read it since the column `screen_failed_at`.
"""

from alembic import op

revision = "0050_subnets_in_one_process"
down_revision = "0049_screenshots"
branch_labels = None
depends_on = None

SURVIVES = {"ix_clients_screen_bad of clients is gone or another one": "No statement has used it since migration 0048."}


def upgrade() -> None:
    op.execute("ALTER FUNCTION subnet_of(text) PARALLEL UNSAFE")
    op.execute("DROP INDEX ix_clients_screen_bad")


def downgrade() -> None:
    op.execute(
        "CREATE INDEX ix_clients_screen_bad ON clients (uuid)"
        " WHERE screen_health IN ('black', 'frozen', 'disconnected')"
    )
    op.execute("ALTER FUNCTION subnet_of(text) PARALLEL SAFE")
