"""Failed sign-ins and refused changes: what tells a person from a stranger, and many lines from one.

`sign_in_addresses`: from where somebody has signed in; strangers' failed tries do not lock that address out.
`audit_repeats`: what is counted before it becomes another line of the audit log.
`broker_files_seen`: how many files the broker has open, for an alert before strangers' connections use them up.
`display_logins.rotated_at`: a display changes its password once a minute at most.
"""

from alembic import op

revision = "0042_who_tries"
down_revision = "0041_more_to_tell"
branch_labels = None
depends_on = None

UP = (
    """
    CREATE TABLE sign_in_addresses (
        user_id bigint NOT NULL,
        address text NOT NULL,
        last_at timestamptz NOT NULL,
        CONSTRAINT pk_sign_in_addresses PRIMARY KEY (user_id, address),
        CONSTRAINT fk_sign_in_addresses_user_id FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE
    )
    """,
    """
    CREATE TABLE audit_repeats (
        key text NOT NULL CONSTRAINT pk_audit_repeats PRIMARY KEY,
        actor text NOT NULL,
        action text NOT NULL,
        target text NOT NULL,
        result text NOT NULL,
        began_at timestamptz NOT NULL,
        repeats bigint NOT NULL DEFAULT 0
    )
    """,
    """
    CREATE TABLE broker_files_seen (
        one boolean NOT NULL DEFAULT true CONSTRAINT pk_broker_files_seen PRIMARY KEY,
        at timestamptz NOT NULL,
        opened integer NOT NULL,
        most integer NOT NULL,
        CONSTRAINT ck_broker_files_seen_one CHECK (one)
    )
    """,
    "CREATE INDEX ix_audit_repeats_began_at ON audit_repeats (began_at)",
    "ALTER TABLE display_logins ADD COLUMN rotated_at timestamptz",
)
DOWN = (
    "ALTER TABLE display_logins DROP COLUMN rotated_at",
    "DROP TABLE broker_files_seen",
    "DROP TABLE audit_repeats",
    "DROP TABLE sign_in_addresses",
)


def upgrade() -> None:
    for statement in UP:
        op.execute(statement)


def downgrade() -> None:
    for statement in DOWN:
        op.execute(statement)
