"""When a tick is late, when it runs retention, and which modules it must not load."""

import subprocess
import sys
from datetime import UTC, datetime, timedelta

import pytest

from deploy.parts.layout import REPOSITORY
from functions.scheduler_tick.frame import Moment

AT = datetime(2026, 3, 1, 12, 0, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("last", "opens"),
    [
        (None, True),
        (AT - timedelta(seconds=29), False),  # 12:00:01
        (AT - timedelta(seconds=31), True),  # 11:59:59
        (AT - timedelta(hours=1), True),
        (AT - timedelta(days=1), True),  # the same hour of another day
    ],
)
def test_only_the_first_tick_of_an_hour_retains(last: datetime | None, opens: bool) -> None:
    assert Moment(AT, last).opens_an_hour() is opens


@pytest.mark.parametrize(("gap", "late"), [(180, False), (181, True)])
def test_a_tick_is_late_after_three_periods(gap: int, late: bool) -> None:
    assert Moment(AT, AT - timedelta(seconds=gap)).is_late is late


def test_the_first_tick_ever_is_not_late() -> None:
    assert not Moment(AT, None).is_late


def test_a_tick_that_enqueues_nothing_does_not_pay_for_grpc() -> None:
    heavy = "{'grpc', 'google.cloud.tasks_v2', 'requests'}"
    code = f"import sys, functions.scheduler_tick.steps; print(sorted({heavy} & set(sys.modules)))"

    run = subprocess.run([sys.executable, "-c", code], cwd=REPOSITORY, capture_output=True, text=True, check=True)

    assert run.stdout.strip() == "[]"
