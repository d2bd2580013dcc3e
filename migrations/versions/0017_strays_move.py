"""A week's log partition takes over what came for that week before it was made, and is made without stopping readers.

It is built beside the table and attached: lines that lie in the default partition move first, or Postgres
would refuse it, and with it every later one.
"""

from alembic import op

revision = "0017_strays_move"
down_revision = "0016_history"
branch_labels = None
depends_on = None
SURVIVES = {
    "make_client_log_partition(text,date) works otherwise": (
        "It makes the same partition for the same arguments; that it first takes over what lies elsewhere is"
        " nothing that a caller sees."
    ),
}

MOVING = """
    CREATE OR REPLACE FUNCTION make_client_log_partition(severity_class text, week_start date) RETURNS boolean
    LANGUAGE plpgsql AS $$
    DECLARE
        parent text := 'client_logs_' || severity_class;
        other text := parent || '_other';
        part text := format('%s_%s', parent, to_char(week_start, 'IYYY"w"IW'));
        begins timestamptz := week_start::timestamp AT TIME ZONE 'UTC';
        ends timestamptz := (week_start + 7)::timestamp AT TIME ZONE 'UTC';
    BEGIN
        IF to_regclass(part) IS NOT NULL THEN
            RETURN false;
        END IF;
        EXECUTE format('LOCK TABLE %I IN ACCESS EXCLUSIVE MODE', other);
        IF to_regclass(part) IS NOT NULL THEN  -- made by somebody else while we waited
            RETURN false;
        END IF;
        EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING DEFAULTS INCLUDING CONSTRAINTS)', part, parent);
        EXECUTE format(
            'WITH strays AS (DELETE FROM %I WHERE received_at >= %L AND received_at < %L RETURNING *)'
            ' INSERT INTO %I SELECT * FROM strays', other, begins, ends, part);
        EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)', parent, part, begins, ends);
        RETURN true;
    END $$
"""
PLAIN = """
    CREATE OR REPLACE FUNCTION make_client_log_partition(severity_class text, week_start date) RETURNS boolean
    LANGUAGE plpgsql AS $$
    DECLARE
        part text := format('client_logs_%s_%s', severity_class, to_char(week_start, 'IYYY"w"IW'));
    BEGIN
        IF to_regclass(part) IS NOT NULL THEN
            RETURN false;
        END IF;
        EXECUTE format(
            'CREATE TABLE %I PARTITION OF %I FOR VALUES FROM (%L) TO (%L)', part, 'client_logs_' || severity_class,
            week_start::timestamp AT TIME ZONE 'UTC', (week_start + 7)::timestamp AT TIME ZONE 'UTC');
        RETURN true;
    END $$
"""
STRAY_WEEKS = """
    CREATE FUNCTION client_log_weeks_without_partition() RETURNS TABLE (severity_class text, week_start date)
    LANGUAGE plpgsql STABLE AS $$
    BEGIN
        RETURN QUERY
            SELECT DISTINCT 'routine', date_trunc('week', received_at AT TIME ZONE 'UTC')::date
            FROM client_logs_routine_other
            UNION ALL
            SELECT DISTINCT 'serious', date_trunc('week', received_at AT TIME ZONE 'UTC')::date
            FROM client_logs_serious_other;
    END $$
"""  # a function of its own: its scan is over before a partition is attached


def upgrade() -> None:
    op.execute(MOVING)
    op.execute(STRAY_WEEKS)


def downgrade() -> None:
    op.execute("DROP FUNCTION client_log_weeks_without_partition()")
    op.execute(PLAIN)
