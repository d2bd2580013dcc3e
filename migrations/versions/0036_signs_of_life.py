"""When a display last sent something else than a heartbeat that was stored, where its heartbeats do not come.

Beside the last heartbeat, in the narrow row that every question about silence reads already: no join, no second index.
Null: its heartbeats come, or nothing comes. Code of before neither reads nor writes it and goes by heartbeats alone.
"""

from alembic import op

revision = "0036_signs_of_life"
down_revision = "0035_counted_by_index"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("ALTER TABLE client_heartbeats ADD COLUMN sign_at timestamptz")


def downgrade() -> None:
    op.execute("ALTER TABLE client_heartbeats DROP COLUMN sign_at")
