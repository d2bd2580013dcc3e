"""The names of the components' database roles. Imports no library, because every service of a box reads them."""

from typing import Final

COMPONENTS: Final = ("api", "bridge", "scheduler_tick", "convert_worker", "broker_accounts", "broker_logins")
TASK_QUEUE: Final = "task_queue"  # our own task queue has a schema of its own
QUEUE_SCHEMA: Final = "task_emulator"
WITH_ROLES: Final = (*COMPONENTS, TASK_QUEUE)


def role_of(component: str, owner: str) -> str:
    """The role of a component for this owner: `signage_api` for the owner `signage`."""
    return f"{owner}_{component}"
