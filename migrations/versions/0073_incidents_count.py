"""An incident counts its displays, and names the one of the same place before it."""

from alembic import op

revision, down_revision = "0073_incidents_count", "0072_mended_is_over"


def upgrade() -> None:
    op.execute("""ALTER TABLE incidents ADD members integer NOT NULL DEFAULT 0, ADD present integer NOT NULL DEFAULT 0,
        ADD peak integer NOT NULL DEFAULT 0, ADD waned_at timestamptz,
        ADD again_of bigint REFERENCES incidents ON DELETE SET NULL""")
    op.execute("""UPDATE incidents AS i SET members = m.members, present = m.present, peak = m.members,
            waned_at = CASE WHEN 5 * m.present <= m.members THEN coalesce(i.closed_at, m.left_at) END
        FROM (SELECT incident_id, count(DISTINCT client_uuid) AS members, max(left_at) AS left_at,
            count(*) FILTER (WHERE left_at IS NULL) AS present FROM incident_members GROUP BY 1) AS m
        WHERE m.incident_id = i.id""")
