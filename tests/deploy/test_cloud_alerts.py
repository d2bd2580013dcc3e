"""The alert policies of deploy/gcp, tested with promtool: each fires when it should, and not earlier.

The queries on the series are tested; how Cloud Monitoring makes series from log lines is not.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from tests.deploy.terraform import root
from tests.deploy.test_alerts import promtool

RUN: Final = '{monitored_resource="cloud_run_revision"}'
MACHINE: Final = '{monitored_resource="gce_instance"}'
LOGGED: Final = "logging_googleapis_com:user_signage_"
REQUESTS: Final = (
    'run_googleapis_com:request_count{monitored_resource="cloud_run_revision", service_name="signage-api",'
    ' response_code="401"}'
)


@dataclass(frozen=True)
class Case:
    """Series by minutes, and whether the policy fires at minute 30."""

    alert: str
    series: dict[str, str]
    fires: bool


def logged(name: str, values: str, resource: str = RUN) -> dict[str, str]:
    """A counter that is made from log lines."""
    return {f"{LOGGED}{name}{resource}": values}


LEADS: Final = {"signage_bridge_leader": "1x60"}
OURS: Final = '{reason="refused_by_database"}'
CASES: Final = (
    Case("tick_missing", logged("tick", "0+1x60"), fires=False),
    Case("tick_missing", logged("tick", "0+1x20 20x40"), fires=True),
    Case("tick_missing", {}, fires=True),
    Case("tick_failing", logged("tick_step_failed", "0x25 1x35"), fires=False),  # one bad tick
    Case("tick_failing", logged("tick_step_failed", "0x10 0+1x50"), fires=True),
    Case("not_told", logged("told_again", "0x20 2x40"), fires=False),
    Case("not_told", logged("told_again", "0x15 0+1x45"), fires=True),
    Case("not_told", logged("not_told", "0x25 1x35"), fires=True),
    Case("canary_old", {"signage_bridge_canary_age_seconds": "9x60", **LEADS}, fires=False),
    Case("canary_old", {"signage_bridge_canary_age_seconds": "0+60x60", **LEADS}, fires=True),
    Case("canary_old", {"signage_bridge_canary_age_seconds": "9x60", "signage_bridge_leader": "0x60"}, fires=True),
    Case("outbox_old", logged("outbox_waiting_sum", "0x60"), fires=False),
    Case("outbox_old", logged("outbox_waiting_sum", "0x10 0+3x50"), fires=True),
    Case("broker_dropped", {"signage_bridge_dropped_total": "4x60"}, fires=False),
    Case("broker_dropped", {"signage_bridge_dropped_total": "0x28 7x32"}, fires=True),
    Case("broker_dropped", logged("broker_dropped", "0x28 1x32", '{monitored_resource="gce_instance"}'), fires=True),
    Case("broker_crashed", logged("broker_crashed", "0x60", '{monitored_resource="gce_instance"}'), fires=False),
    Case("broker_crashed", logged("broker_crashed", "0x28 1x32", '{monitored_resource="gce_instance"}'), fires=True),
    Case("certificate_old", logged("certificate_old", "0x60", MACHINE), fires=False),
    Case("certificate_old", logged("certificate_old", "0x10 1x50", MACHINE), fires=True),
    Case("certificate_ending", logged("certificate_ending", "0x60", MACHINE), fires=False),
    Case("certificate_ending", logged("certificate_ending", "0x10 1x50", MACHINE), fires=True),
    Case("dead_letters", {"signage_bridge_dead_letters_total": "0x25 3x35"}, fires=False),
    Case("dead_letters", {"signage_bridge_dead_letters_total": "0+1x60"}, fires=True),
    Case("messages_refused", {'signage_bridge_dead_letters_total{reason="bad_field"}': "0+1x60"}, fires=False),
    Case("messages_refused", {f"signage_bridge_dead_letters_total{OURS}": "0x25 1x35"}, fires=True),
    Case("conversion_old", logged("conversions_old_sum", "0x20 2x40"), fires=False),
    Case("conversion_old", logged("conversions_old_sum", "0+1x60"), fires=True),
    Case("stale_jump", logged("breakers_open_sum", "0x60"), fires=False),
    Case("stale_jump", logged("breakers_open_sum", "0x27 0+1x33"), fires=True),
    Case(
        "recovery_storm",
        logged("recovery_restarts_sum", "0x20 9x40") | logged("recovery_reboots_sum", "0x60"),
        fires=False,
    ),
    Case(
        "recovery_storm",
        logged("recovery_restarts_sum", "0x10 20x50") | logged("recovery_reboots_sum", "0x15 15x45"),
        fires=True,
    ),
    Case("auth_burst", {REQUESTS: "0+9x60"}, fires=False),
    Case("auth_burst", {REQUESTS: "0+90x60"}, fires=True),
    Case("auth_burst", logged("identity_refused", "0+9x60"), fires=True),
    Case("disk", {"cloudsql_googleapis_com:database_disk_utilization": "0.5x60"}, fires=False),
    Case("disk", {"cloudsql_googleapis_com:database_disk_utilization": "0.9x60"}, fires=True),
    Case("disk", {'compute_googleapis_com:guest_disk_bytes_used{device_name="sdb"}': "18000000000x60"}, fires=True),
)


def policies() -> Iterator[dict[str, Any]]:
    """The policies of deploy/gcp as rules of Prometheus."""
    for name, said in root().locals["alerts"].items():
        if name != "__is_block__":
            yield {"alert": name, "expr": said["query"].replace('\\"', '"'), "for": said["holds"]}


@pytest.fixture(scope="module")
def rules(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with these rules."""
    written = tmp_path_factory.mktemp("cloud") / "policies.yaml"
    written.write_text(yaml.safe_dump({"groups": [{"name": "policies", "rules": list(policies())}]}), encoding="utf-8")
    return written


def tried(rules: Path, cases: tuple[Case, ...]) -> str:
    """Run promtool on these cases. Returns its output."""
    tests = [
        {
            "interval": "1m",
            "input_series": [{"series": name, "values": values} for name, values in case.series.items()],
            "promql_expr_test": [
                {
                    "expr": f'count(ALERTS{{alertname="{case.alert}", alertstate="firing"}}) or vector(0)',
                    "eval_time": "30m",
                    "exp_samples": [{"labels": "{}", "value": int(case.fires)}],
                }
            ],
        }
        for case in cases
    ]
    written = rules.with_name("test.yaml")
    written.write_text(yaml.safe_dump({"rule_files": [str(rules)], "tests": tests}), encoding="utf-8")
    return promtool("test", "rules", written)


def test_each_policy_is_tried_both_ways() -> None:
    names = {policy["alert"] for policy in policies()}

    for fires in (True, False):
        assert {case.alert for case in CASES if case.fires is fires} == names


def test_each_policy_fires_when_it_should_and_not_before(rules: Path) -> None:
    assert "SUCCESS" in tried(rules, CASES)


def test_a_policy_that_never_fires_is_seen(rules: Path) -> None:
    spoiled = rules.with_name("spoiled.yaml")
    spoiled.write_text(rules.read_text(encoding="utf-8").replace("> 0.85", "> 8.5"), encoding="utf-8")

    with pytest.raises(AssertionError, match="FAILED"):
        tried(spoiled, CASES[-2:-1])
