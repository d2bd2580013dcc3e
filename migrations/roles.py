"""The names of the components' database roles. Every service of a box reads them: no library is loaded for that."""

from typing import Final

COMPONENTS: Final = ("api", "bridge", "scheduler_tick", "convert_worker", "broker_accounts")
TASK_QUEUE: Final = "task_queue"  # a queue of our own keeps its tables in a schema of its own
QUEUE_SCHEMA: Final = "task_emulator"
WITH_ROLES: Final = (*COMPONENTS, TASK_QUEUE)


def role_of(component: str, owner: str) -> str:
    """The component's role beside this owner: `signage_api` beside `signage`."""
    return f"{owner}_{component}"
