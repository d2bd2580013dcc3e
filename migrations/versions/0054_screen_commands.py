"""Commands that switch a screen on and off, and whose plan it is that a screen is off."""

from alembic import op

revision = "0054_screen_commands"
down_revision = "0053_quiet_times"
branch_labels = None
depends_on = None

SURVIVES = {
    "client_commands.action has screen_off, screen_on, which readers do not know": (
        "Only a display that declares the capability gets one, and an older display declares none. Older code that is"
        " put back later cannot read the commands of these displays."
    ),
    "command_batches.action has screen_off, screen_on, which readers do not know": (
        "Older code leaves a batch of an action that it does not know alone, and no old page asks for one."
    ),
}

POWER = "'restart_app', 'reboot_host', 'shutdown_host'"
SCREEN = "'screen_on', 'screen_off'"


def upgrade() -> None:
    allow_actions("client_commands", f"{POWER}, 'screenshot', {SCREEN}")
    allow_actions("command_batches", f"{POWER}, {SCREEN}")
    op.execute("ALTER TABLE clients ADD COLUMN screen_off_by text")
    op.execute(
        "ALTER TABLE clients ADD CONSTRAINT ck_clients_screen_off_by CHECK (screen_off_by IN ('command', 'hours'))"
    )


def downgrade() -> None:
    op.execute("ALTER TABLE clients DROP COLUMN screen_off_by")
    op.execute(
        f"""
        DELETE FROM command_batch_members WHERE batch_id IN (SELECT id FROM command_batches WHERE action IN ({SCREEN}))
        """  # noqa: S608 - made of constants
    )
    op.execute(f"DELETE FROM command_batches WHERE action IN ({SCREEN})")  # noqa: S608 - made of constants
    op.execute(f"DELETE FROM client_commands WHERE action IN ({SCREEN})")  # noqa: S608 - made of constants
    allow_actions("command_batches", POWER)
    allow_actions("client_commands", f"{POWER}, 'screenshot'")


def allow_actions(table: str, words: str) -> None:
    """What the commands of this table can be."""
    op.execute(f"ALTER TABLE {table} DROP CONSTRAINT ck_{table}_action")
    op.execute(f"ALTER TABLE {table} ADD CONSTRAINT ck_{table}_action CHECK (action IN ({words}))")
