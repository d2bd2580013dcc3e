"""Clients: who they are and what people call them."""

from alembic import op

revision = "0001_clients"
down_revision = None

SQL = """\
CREATE TABLE clients (
    uuid text PRIMARY KEY CHECK (uuid ~ '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$'),
    name text NOT NULL DEFAULT '', site text, tags text[] NOT NULL DEFAULT '{}', notes text NOT NULL DEFAULT '',
    registered_by text NOT NULL CHECK (registered_by IN ('enrolment', 'first_message')),
    created_at timestamptz NOT NULL DEFAULT now(), deleted_at timestamptz);
"""


def upgrade() -> None:
    op.execute(SQL)
