"""A breaker of screens is a row beside that of silence."""

from alembic import op

revision, down_revision = "0076_one_breaker", "0074_taken"


def upgrade() -> None:
    op.execute(
        """
        ALTER TABLE recovery_breakers ADD COLUMN basis text NOT NULL DEFAULT 'stale',
            ADD CONSTRAINT ck_recovery_breakers_basis
                CHECK (basis IN ('crashed', 'service_failed', 'stale', 'screen_failed')),
            DROP CONSTRAINT pk_recovery_breakers, ADD CONSTRAINT pk_recovery_breakers PRIMARY KEY (basis, site);
        INSERT INTO recovery_breakers (basis, site, open_since, why, why_sentences, released_at)
        SELECT 'screen_failed', site, screens_since, screens_why, screens_why_sentences, screens_released_at
        FROM recovery_breakers WHERE screens_since IS NOT NULL OR screens_released_at IS NOT NULL;
        ALTER TABLE recovery_breakers DROP COLUMN screens_since, DROP COLUMN screens_why,
            DROP COLUMN screens_why_sentences, DROP COLUMN screens_released_at;
        """
    )
