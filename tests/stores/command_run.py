"""Run the command machine: a number of interleavings from one seed."""

from collections import Counter

from hypothesis import HealthCheck, Phase, settings
from hypothesis import seed as seeded
from hypothesis.stateful import run_state_machine_as_test
from sqlalchemy import Engine

from tests.stores.command_faults import Database
from tests.stores.command_machine import CommandMachine

STEPS = 12


def run(engine: Engine, interleavings: int, seed: int) -> tuple[Counter[str], Counter[str]]:
    """Run it. Returns what was reached, and where connections died. Raises the error of a broken promise."""

    @seeded(seed)
    class Machine(CommandMachine):
        pass

    Machine.database, Machine.reached = Database(engine), Counter()
    try:
        run_state_machine_as_test(
            Machine,
            settings=settings(
                max_examples=interleavings,
                stateful_step_count=STEPS,
                deadline=None,
                database=None,
                phases=[Phase.generate],  # shrinking takes minutes, and the steps are readable without it
                suppress_health_check=list(HealthCheck),
            ),
        )
    finally:
        Machine.database.close()
    return Machine.reached, Machine.database.deaths
