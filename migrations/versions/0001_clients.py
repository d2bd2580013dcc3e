"""Clients: who they are and what people call them."""

from alembic import op

revision = "0001_clients"
down_revision = None
branch_labels = None
depends_on = None

UP = (
    """
    CREATE TABLE clients (
        uuid text NOT NULL CONSTRAINT pk_clients PRIMARY KEY,
        name text NOT NULL DEFAULT '',
        site text,
        tags text[] NOT NULL DEFAULT '{}',
        notes text NOT NULL DEFAULT '',
        registered_by text NOT NULL,
        created_at timestamptz NOT NULL DEFAULT now(),
        deleted_at timestamptz,
        CONSTRAINT ck_clients_uuid CHECK (uuid ~ '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$'),
        CONSTRAINT ck_clients_registered_by CHECK (registered_by IN ('enrolment', 'first_message'))
    )
    """,
)
DOWN = ("DROP TABLE clients",)


def upgrade() -> None:
    for statement in UP:
        op.execute(statement)


def downgrade() -> None:
    for statement in DOWN:
        op.execute(statement)
