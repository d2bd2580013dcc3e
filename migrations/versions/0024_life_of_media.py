"""What the life of a medium needs besides: uploads that come in parts, and conversions that are made anew."""

from alembic import op

revision = "0024_life_of_media"
down_revision = "0023_incidents"
branch_labels = None
depends_on = None

UP = (
    "ALTER TABLE conversions ADD COLUMN rebuild boolean NOT NULL DEFAULT false",
    """
    CREATE TABLE uploads (
        id text CONSTRAINT pk_uploads PRIMARY KEY,
        filename text NOT NULL,
        bytes bigint NOT NULL,
        received bigint NOT NULL DEFAULT 0,
        parts text[] NOT NULL DEFAULT '{}',
        writer text,
        writer_until timestamptz,
        media_id bigint,
        created_at timestamptz NOT NULL,
        expires_at timestamptz NOT NULL,
        created_by text NOT NULL,
        CONSTRAINT fk_uploads_media_id FOREIGN KEY (media_id) REFERENCES event_media (id),
        CONSTRAINT ck_uploads_received CHECK (received BETWEEN 0 AND bytes)
    )
    """,
    "CREATE INDEX ix_uploads_expires_at ON uploads (expires_at)",
)
DOWN = (
    "DROP TABLE uploads",
    "ALTER TABLE conversions DROP COLUMN rebuild",
)


def upgrade() -> None:
    for statement in UP:
        op.execute(statement)


def downgrade() -> None:
    for statement in DOWN:
        op.execute(statement)
