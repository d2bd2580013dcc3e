"""The other Debian than this machine's: the service on its Python and Postgres, and what differs there."""

from pathlib import Path

from deploy.parts.layout import LOOPBACK, REPOSITORY
from tests import debian
from tests.faults.test_campaigns import passed
from tests.lab.campaigns import debians

OTHER = next(release for release in debians.RELEASES if release != debian.RELEASE)
LOCKS = (REPOSITORY / "requirements.lock", REPOSITORY / "requirements-dev.lock")
PYTEST = ("pytest", "hypothesis", "iniconfig", "packaging", "pluggy", "pygments", "sortedcontainers")
DIFFERENT = (
    "tests/rules/test_couriers.py",  # special addresses
    "tests/rules/test_deployment.py",
    "tests/stores/test_driver.py",  # connections that die
    "tests/stores/test_command_traces.py",
    "tests/tick/test_tick.py",
)


def prepared(release: str) -> Path:
    """A Debian that has what `make run` and pytest need, so that nothing is downloaded again."""
    return debian.root_for_make_run(release, debians.PLACE, LOCKS, PYTEST)


def test_the_other_debian_runs_the_service_and_passes_what_differs_there(tmp_path: Path) -> None:
    """Without a converter, whose packages are a gigabyte; `make campaign ONLY=debians` runs everything on both."""
    plan = debians.Plan(
        releases=(OTHER,),
        tests=f".venv/bin/pytest -q {' '.join(DIFFERENT)}",
        settings={"CONVERTER_URL": f"http://{LOOPBACK}:9"},
        displays=5,
        root=prepared,
    )

    [ledger] = debians.run(plan, tmp_path)

    assert passed(ledger)
