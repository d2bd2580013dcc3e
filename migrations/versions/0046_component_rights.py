"""What no component has a right to, but the tick has to do: functions that do it as the owner, within bounds."""

from alembic import op

revision = "0046_component_rights"
down_revision = "0045_certificates"
branch_labels = None
depends_on = None

OF_BEFORE = ("make_client_log_partition(text, date)", "client_log_weeks_without_partition()")
AS_OWNER = "SECURITY DEFINER SET search_path = public, pg_temp"

FORGET = """
    CREATE FUNCTION forget_audit_before(moment timestamptz) RETURNS bigint LANGUAGE plpgsql
    SECURITY DEFINER SET search_path = public, pg_temp AS $$
    DECLARE
        gone bigint;
    BEGIN
        DELETE FROM audit_log WHERE at < least(moment, now() - interval '30 days');
        GET DIAGNOSTICS gone = ROW_COUNT;
        RETURN gone;
    END $$
    """


def upgrade() -> None:
    for function in OF_BEFORE:
        op.execute(f"ALTER FUNCTION {function} {AS_OWNER}")
    op.execute(
        f"""
        CREATE FUNCTION drop_client_log_partition(part text) RETURNS void LANGUAGE plpgsql {AS_OWNER} AS $$
        BEGIN
            IF part !~ '^client_logs_(routine|serious)_[0-9]{{4}}w[0-9]{{2}}$' THEN
                RAISE EXCEPTION '% is no weekly partition', part;
            END IF;
            EXECUTE format('DROP TABLE %I', part);
        END $$
        """
    )
    op.execute(FORGET)


def downgrade() -> None:
    op.execute("DROP FUNCTION forget_audit_before(timestamptz)")
    op.execute("DROP FUNCTION drop_client_log_partition(text)")
    for function in OF_BEFORE:
        op.execute(f"ALTER FUNCTION {function} SECURITY INVOKER RESET search_path")
