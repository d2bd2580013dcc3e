"""What proves that a command never reached its display, and the lockout that it found."""

from alembic import op

revision = "0015_command_proof"
down_revision = "0014_changed_xid"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("ALTER TABLE client_commands ADD unanswered_at timestamptz, ADD lockout_before timestamptz")


def downgrade() -> None:
    op.execute("ALTER TABLE client_commands DROP COLUMN unanswered_at, DROP COLUMN lockout_before")
