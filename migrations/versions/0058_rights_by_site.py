"""People and API tokens may be for chosen sites only.

Older code ignores sites and would give such a person or token rights everywhere. Therefore the columns that it reads
show the person as disabled and the token as revoked. Today's code reads `disabled_at_sites` and `revoked_at_sites`
instead. A downgrade leaves these people disabled and these tokens revoked.
"""

from alembic import op

revision = "0058_rights_by_site"
down_revision = "0057_schedules"
branch_labels = None
depends_on = None

SURVIVES = {
    f"ck_{table}_sites_older_code of {table} is stricter: CHECK (((sites IS NULL) OR ({ended} IS NOT NULL)))": (
        "Older code writes no sites, so the check never refuses its rows. It refuses a row with sites that older code"
        " would accept as valid everywhere."
    )
    for table, ended in (("users", "disabled_at"), ("api_tokens", "revoked_at"))
}


def upgrade() -> None:
    """Add the columns. Everybody keeps their rights at all sites."""
    for table, ended, ended_at_sites in (
        ("users", "disabled_at", "disabled_at_sites"),
        ("api_tokens", "revoked_at", "revoked_at_sites"),
    ):
        op.execute(
            f"""
            ALTER TABLE {table} ADD COLUMN sites text[], ADD COLUMN {ended_at_sites} timestamptz,
                ADD CONSTRAINT ck_{table}_sites CHECK (cardinality(sites) BETWEEN 1 AND 200),
                ADD CONSTRAINT ck_{table}_sites_older_code CHECK (sites IS NULL OR {ended} IS NOT NULL),
                ADD CONSTRAINT ck_{table}_{ended_at_sites}
                    CHECK (sites IS NOT NULL OR {ended_at_sites} IS NULL)
            """
        )
    op.execute(
        "ALTER TABLE quiet_times ADD COLUMN named integer GENERATED ALWAYS AS (cardinality(clients)) STORED NOT NULL"
    )


def downgrade() -> None:
    """Remove the columns. People and tokens of chosen sites stay disabled and revoked."""
    op.execute("ALTER TABLE quiet_times DROP COLUMN named")
    op.execute("ALTER TABLE api_tokens DROP COLUMN revoked_at_sites, DROP COLUMN sites")
    op.execute("ALTER TABLE users DROP COLUMN disabled_at_sites, DROP COLUMN sites")
