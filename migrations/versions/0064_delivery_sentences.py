"""Why a message was not delivered is stored as codes and facts beside its English (`0062_sentences`).

Older code writes the English only: then the codes are null, or no longer make this English, and readers show it as it
is.
"""

from alembic import op

revision = "0064_delivery_sentences"
down_revision = "0063_status_links"
branch_labels = None
depends_on = None

COLUMNS = (("notification_channels", "last_error_sentences"), ("notification_deliveries", "error_sentences"))


def upgrade() -> None:
    for table, column in COLUMNS:
        op.execute(f"ALTER TABLE {table} ADD COLUMN {column} jsonb")


def downgrade() -> None:
    for table, column in COLUMNS:
        op.execute(f"ALTER TABLE {table} DROP COLUMN {column}")
