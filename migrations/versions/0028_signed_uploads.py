"""Uploads that are sent to an address that expires: how the bytes come, and what they must hash to."""

from alembic import op

revision = "0028_signed_uploads"
down_revision = "0027_breaker_low_since"
branch_labels = None
depends_on = None

UP = (
    "ALTER TABLE uploads ADD COLUMN way text NOT NULL DEFAULT 'parts'",
    "ALTER TABLE uploads ADD COLUMN sha256 text",
    "ALTER TABLE uploads ADD CONSTRAINT ck_uploads_way CHECK (way IN ('parts', 'signed', 'bucket'))",
)
DOWN = (
    "DELETE FROM uploads WHERE way <> 'parts'",  # their bytes came by a way that the code before does not know
    "ALTER TABLE uploads DROP CONSTRAINT ck_uploads_way",
    "ALTER TABLE uploads DROP COLUMN sha256",
    "ALTER TABLE uploads DROP COLUMN way",
)


def upgrade() -> None:
    """Every upload so far came in parts of tus."""
    for statement in UP:
        op.execute(statement)


def downgrade() -> None:
    """Forget the others; the sweep of the volume finds their files."""
    for statement in DOWN:
        op.execute(statement)
