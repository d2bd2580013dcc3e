"""People sign in at an OpenID Connect provider: who they are there, used tries, and what a sign-out needs.

Such a person has an empty `password_hash`. No password fits it, so older code refuses their sign-in. A downgrade
deletes their identities at the provider. Their accounts stay, and an admin may set a password.
"""

from alembic import op

revision = "0061_sign_in_provider"
down_revision = "0060_shared_logins_are_told"
branch_labels = None
depends_on = None

UP = (
    """
    CREATE TABLE provider_identities (
        issuer text NOT NULL,
        subject text NOT NULL,
        user_id bigint NOT NULL,
        created_at timestamptz NOT NULL,
        CONSTRAINT pk_provider_identities PRIMARY KEY (issuer, subject),
        CONSTRAINT uq_provider_identities_user_id UNIQUE (user_id),
        CONSTRAINT fk_provider_identities_user_id FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE
    )
    """,
    """
    CREATE TABLE provider_tries (
        state_hash text NOT NULL CONSTRAINT pk_provider_tries PRIMARY KEY,
        used_at timestamptz NOT NULL
    )
    """,
    "ALTER TABLE user_sessions ADD COLUMN id_token text",
)
DOWN = (
    "ALTER TABLE user_sessions DROP COLUMN id_token",
    "DROP TABLE provider_tries",
    "DROP TABLE provider_identities",
)


def upgrade() -> None:
    for statement in UP:
        op.execute(statement)


def downgrade() -> None:
    for statement in DOWN:
        op.execute(statement)
