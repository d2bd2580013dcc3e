"""Indexes for deduplication by hash, for files by path, for the sweep and for turns."""

from alembic import op

revision = "0007_conversion_indexes"
down_revision = "0006_conversions"

SQL = """\
CREATE INDEX ix_conversions_file_hash ON conversions (file_hash);
CREATE INDEX ix_conversions_open ON conversions (status, created_at) WHERE status IN ('pending', 'processing');
CREATE INDEX ix_conversions_target_path ON conversions (target_path);
CREATE INDEX ix_conversions_turn ON conversions (turn) WHERE status <> 'pending';
CREATE INDEX ix_conversions_turn_id ON conversions (turn, id) WHERE status IN ('pending', 'processing');
"""


def upgrade() -> None:
    op.execute(SQL)
