"""A screenshot may be open beside one other command: it only looks, so it holds nothing back."""

from alembic import op

revision = "0051_screenshots_beside"
down_revision = "0050_subnets_in_one_process"
branch_labels = None
depends_on = None

SURVIVES = {
    "uq_client_commands_open of client_commands is gone or another one": (
        "The index has one more column and covers the same rows. For the seconds of a screenshot a client may have two"
        " open commands, and older code then lists the client twice."
    )
}
NEXT_TO_A_SCREENSHOT = """
    UPDATE client_commands AS s SET state = 'expired', finished_at = now(), outcome_reason = 'no_ack'
    WHERE s.action = 'screenshot' AND s.rank < 90 AND EXISTS (
        SELECT FROM client_commands AS o WHERE o.client_uuid = s.client_uuid AND o.id <> s.id AND o.rank < 90)
    """


def upgrade() -> None:
    one_open("client_uuid, (action = 'screenshot')")


def downgrade() -> None:
    op.execute(NEXT_TO_A_SCREENSHOT)
    one_open("client_uuid")


def one_open(columns: str) -> None:
    """Of what there may be one open command at most."""
    op.execute("DROP INDEX uq_client_commands_open")
    op.execute(f"CREATE UNIQUE INDEX uq_client_commands_open ON client_commands ({columns}) WHERE rank < 90")
