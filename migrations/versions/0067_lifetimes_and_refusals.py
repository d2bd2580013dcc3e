"""A door's certificate has a begin, and displays say that a disk takes no writes and which orders they refuse.

Older code does not store the begin. `epoch` then stands for a long lifetime, which has the limits of older code.
"""

from alembic import op

revision = "0067_lifetimes_and_refusals"
down_revision = "0064_delivery_sentences"
branch_labels = None
depends_on = None


SURVIVES = {
    "client_limits.kind has read_only, refused, which readers do not know": (
        "Only a display that says the new fields gets such a row, and an older display says none. Older code that is"
        " put back later cannot read these displays while they pass such a limit."
    )
}
BEFORE = "'disk', 'memory', 'heat', 'certificate', 'clock', 'voltage'"


def _kinds(words: str) -> str:
    return f"""
        ALTER TABLE client_limits DROP CONSTRAINT ck_client_limits_kind,
            ADD CONSTRAINT ck_client_limits_kind CHECK (kind IN ({words}))
        """


def upgrade() -> None:
    op.execute("ALTER TABLE door_certificates ADD COLUMN begins_at timestamptz NOT NULL DEFAULT 'epoch'")
    op.execute("ALTER TABLE client_health ADD COLUMN disk_writable boolean, ADD COLUMN refused text")
    op.execute(_kinds(f"{BEFORE}, 'read_only', 'refused'"))


def downgrade() -> None:
    op.execute("DELETE FROM client_limits WHERE kind IN ('read_only', 'refused')")
    op.execute(_kinds(BEFORE))
    op.execute("ALTER TABLE client_health DROP COLUMN refused, DROP COLUMN disk_writable")
    op.execute("ALTER TABLE door_certificates DROP COLUMN begins_at")
