"""The shipped alert rules, tested with Prometheus' promtool: each fires when it should, and not earlier."""

import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from deploy.local.prerequisites import PROGRAM_PATH
from deploy.parts.layout import REPOSITORY
from tests.deploy.metrics_there import FOLDER, METRIC, asked, names_there, rules

DESIGNED: Final = {  # the required alerts, and what would stay unnoticed without them
    *("SignageTickMissing", "SignageCanaryOld", "SignageOutboxOld", "SignageBrokerDropped", "SignageDeadLetters"),
    *("SignageConversionOld", "SignageStaleJump", "SignageRecoveryStorm", "SignageAuthBurst", "SignageDisk"),
    *("SignageTickFailing", "SignageNotTold", "SignageMetricsMissing", "SignageBrokerCrashed"),
    *("SignageBrokerFull", "SignageBrokerMemory", "SignageScreensDark", "SignageMessagesRefused"),
    *("SignageCertificateOld", "SignageCertificateEnding", "SignagePicturesMissing", "SignageLimitsPassed"),
}
BRIDGE, API = '{instance="a:8090", job="signage-bridge"}', '{instance="a:443", job="signage"}'


@dataclass(frozen=True)
class Case:
    """Series by minutes, in promtool's notation, and whether the alert fires at `minute`."""

    alert: str
    note: str
    series: dict[str, str]
    fires: bool
    minute: int = 30


def of_api(name: str, values: str, labels: str = "") -> dict[str, str]:
    return {f"{name}{API[:-1]}{', ' if labels else ''}{labels}}}": values}


def of_bridge(name: str, values: str, labels: str = "") -> dict[str, str]:
    return {f"{name}{BRIDGE[:-1]}{', ' if labels else ''}{labels}}}": values}


def ticks(age: str) -> dict[str, str]:
    return of_api("signage_tick_age_seconds", age) | of_api("signage_tick_period_seconds", "60x60")


def fleet(stale: str, running: str, breakers: str = "0x60") -> dict[str, str]:
    return (
        of_api("signage_clients", stale, 'status="stale"')
        | of_api("signage_clients", running, 'status="running"')
        | of_api("signage_breakers_open", breakers, 'scope="site"')
    )


def left(hours: int, of_days: int = 90, then: int | None = None) -> dict[str, str]:
    seconds = f"{hours * 3600}x60" if then is None else f"{hours * 3600}x20 {then * 3600}x40"
    door, lifetime = 'door="displays"', f"{of_days * 86_400}x60"
    return of_api("signage_certificate_seconds_left", seconds, door) | of_api(
        "signage_certificate_lifetime_seconds", lifetime, door
    )


def dark(screens: str) -> dict[str, str]:
    return of_api("signage_clients_screen_failed", screens)


def over(disks: str, heat: str = "0x60") -> dict[str, str]:
    name = "signage_clients_over_limit"
    return of_api(name, disks, 'limit="disk"') | of_api(name, heat, 'limit="heat"')


def pictures(stored: str, missing: str) -> dict[str, str]:
    name = "signage_screenshots_last_30m"
    return of_api(name, stored, 'picture="stored"') | of_api(name, missing, 'picture="missing"')


def losses(dropped: str, missing: str) -> dict[str, str]:
    return of_bridge("signage_bridge_dropped_total", dropped) | of_bridge("signage_bridge_missing_logs_total", missing)


def room(free: str) -> dict[str, str]:
    return of_api("signage_media_volume_free_bytes", free) | of_api("signage_media_volume_size_bytes", "100x60")


ENDED: Final = "signage_commands_ended_last_15m"
LEASES: Final = "signage_conversion_leases"
OLDEST: Final = "signage_conversions_oldest_seconds"
LETTERS: Final = "signage_dead_letters_last_15m"
PUT_ASIDE, REFUSED = "signage_bridge_dead_letters_total", 'reason="refused_by_database"'
CASES: Final = [
    Case("SignageTickMissing", "a tick each minute", ticks("59x60"), fires=False),
    Case("SignageTickMissing", "late by two periods", ticks("179x60"), fires=False),
    Case("SignageTickMissing", "gone", ticks("0+60x60"), fires=True),
    Case("SignageTickMissing", "there never was one", ticks(" ".join(["+Inf"] * 61)), fires=True),
    Case("SignageTickMissing", "gone, but only just", ticks("200x60"), fires=False, minute=0),
    Case("SignageTickFailing", "one bad tick", of_api("signage_tick_failed_steps", "0x27 2 0x30"), fires=False),
    Case("SignageTickFailing", "each tick", of_api("signage_tick_failed_steps", "1x60"), fires=True),
    Case("SignageCanaryOld", "heard", of_api("signage_listening", "1x60"), fires=False),
    Case(
        "SignageCanaryOld", "a bridge is changed for another", of_api("signage_listening", "1x29 0 1x30"), fires=False
    ),
    Case("SignageCanaryOld", "not heard", of_api("signage_listening", "1x20 0x40"), fires=True),
    Case("SignageOutboxOld", "published at once", of_api("signage_outbox_oldest_seconds", "0x60"), fires=False),
    Case("SignageOutboxOld", "waits", of_api("signage_outbox_oldest_seconds", "45x60"), fires=True),
    Case("SignageOutboxOld", "refused", of_api(ENDED, "1x60", 'state="failed", reason="publish_denied"'), fires=True),
    Case(
        "SignageOutboxOld", "never left", of_api(ENDED, "2x60", 'state="expired", reason="never_published"'), fires=True
    ),
    Case(
        "SignageOutboxOld", "displays are off", of_api(ENDED, "9x60", 'state="expired", reason="no_ack"'), fires=False
    ),
    Case("SignageBrokerDropped", "nothing lost", losses("3x60", "4x60"), fires=False),
    Case("SignageBrokerDropped", "no room", losses("0x25 5x35", "0x60"), fires=True),
    Case("SignageBrokerDropped", "a gap", losses("0x60", "0x25 1x35"), fires=True),
    Case("SignageBrokerDropped", "another one leads and counts from 0", losses("7x25 0x35", "0x60"), fires=False),
    Case("SignageBrokerCrashed", "started in order", of_api("signage_broker_crashes_last_day", "0x60"), fires=False),
    Case("SignageBrokerCrashed", "crashed", of_api("signage_broker_crashes_last_day", "0x25 1x35"), fires=True),
    Case(
        "SignageBrokerFull",
        "half of it",
        of_api("signage_broker_open_files", "30000x60") | of_api("signage_broker_open_files_limit", "65536x60"),
        fires=False,
    ),
    Case(
        "SignageBrokerFull",
        "strangers' connections",
        of_api("signage_broker_open_files", "900x20 57344x40") | of_api("signage_broker_open_files_limit", "65536x60"),
        fires=True,
    ),
    Case("SignageBrokerMemory", "a day without a bridge", of_api("signage_broker_memory_bytes", "7e8x60"), fires=False),
    Case("SignageBrokerMemory", "soon ended", of_api("signage_broker_memory_bytes", "1e9x20 16e8x40"), fires=True),
    Case("SignageCertificateOld", "fifteen days", left(15 * 24), fires=False),
    Case("SignageCertificateOld", "thirteen days", left(13 * 24), fires=True),
    Case("SignageCertificateOld", "renewed", left(13 * 24, then=90 * 24), fires=False),
    Case("SignageCertificateOld", "more than a third of six days", left(49, of_days=6), fires=False),
    Case("SignageCertificateOld", "less than a third of six days", left(47, of_days=6), fires=True),
    Case("SignageCertificateEnding", "four days", left(4 * 24), fires=False),
    Case("SignageCertificateEnding", "two days", left(2 * 24), fires=True),
    Case("SignageCertificateEnding", "more than a tenth of six days", left(15, of_days=6), fires=False),
    Case("SignageCertificateEnding", "less than a tenth of six days", left(14, of_days=6), fires=True),
    Case("SignageCertificateEnding", "it has ended", left(-1), fires=True),
    Case("SignageDeadLetters", "a few", of_api(LETTERS, "3x60", 'reason="bad_field"'), fires=False),
    Case("SignageDeadLetters", "many kinds", of_api(LETTERS, "11x60", 'reason="bad_field"'), fires=True),
    Case(
        "SignageDeadLetters",
        "always the same",
        of_api(LETTERS, "1x60", 'reason="bad_field"')
        | of_bridge("signage_bridge_dead_letters_total", "0+20x60", 'reason="bad_field"'),
        fires=True,
    ),
    Case("SignageMessagesRefused", "a player's fault", of_api(LETTERS, "9x60", 'reason="bad_field"'), fires=False),
    Case("SignageMessagesRefused", "one of ours", of_api(LETTERS, "0x20 1x40", REFUSED), fires=True),
    Case("SignageMessagesRefused", "once more", of_bridge(PUT_ASIDE, "7x25 8x35", REFUSED), fires=True),
    Case("SignageConversionOld", "a long queue", of_api(OLDEST, "0+60x12 0x50", 'status="pending"'), fires=False),
    Case("SignageConversionOld", "stuck", of_api(OLDEST, "0+60x60", 'status="pending"'), fires=True),
    Case("SignageConversionOld", "a dead worker", of_api(LEASES, "1x60", 'lease="over"'), fires=True),
    Case("SignageConversionOld", "a busy worker", of_api(LEASES, "2x60", 'lease="running"'), fires=False),
    Case("SignageStaleJump", "some are always silent", fleet("40x60", "60x60"), fires=False),
    Case("SignageStaleJump", "a site goes dark", fleet("2x25 20x35", "98x25 80x35"), fires=True),
    Case("SignageStaleJump", "a few of very many", fleet("0x25 9x35", "5000x60"), fires=False),
    Case("SignageStaleJump", "a breaker", fleet("3x60", "9x60", "1x60"), fires=True),
    Case("SignageScreensDark", "some screens fail", fleet("0x60", "96x60") | dark("4x60"), fires=False),
    Case("SignageScreensDark", "a few of very many", fleet("0x60", "5000x60") | dark("9x60"), fires=False),
    Case("SignageScreensDark", "for a moment", fleet("0x60", "96x60") | dark("0x27 40 0x32"), fires=False),
    Case("SignageScreensDark", "a playlist shows nothing", fleet("0x60", "96x60") | dark("0x20 40x40"), fires=True),
    Case("SignageLimitsPassed", "some disks are full", fleet("0x60", "96x60") | over("4x60"), fires=False),
    Case("SignageLimitsPassed", "a few of very many", fleet("0x60", "5000x60") | over("9x60"), fires=False),
    Case("SignageLimitsPassed", "of two limits", fleet("0x60", "96x60") | over("8x60", "8x60"), fires=False),
    Case("SignageLimitsPassed", "for a moment", fleet("0x60", "96x60") | over("0x27 40 0x32"), fires=False),
    Case("SignageLimitsPassed", "the air fails", fleet("0x60", "96x60") | over("0x60", "0x20 40x40"), fires=True),
    Case("SignagePicturesMissing", "some cannot", pictures("3x60", "9x60"), fires=False),
    Case("SignagePicturesMissing", "nobody asks", pictures("0x60", "0x60"), fires=False),
    Case("SignagePicturesMissing", "none comes", pictures("0x60", "5x60"), fires=True),
    Case(
        "SignageRecoveryStorm",
        "as usual",
        of_api("signage_recovery_commands_last_30m", "4x60", 'action="restart_app"'),
        fires=False,
    ),
    Case(
        "SignageRecoveryStorm",
        "both kinds together",
        of_api("signage_recovery_commands_last_30m", "20x60", 'action="restart_app"')
        | of_api("signage_recovery_commands_last_30m", "11x60", 'action="reboot_host"'),
        fires=True,
    ),
    Case("SignageAuthBurst", "somebody forgot", of_api("signage_sign_in_failures_last_15m", "6x60"), fires=False),
    Case("SignageAuthBurst", "somebody guesses", of_api("signage_sign_in_failures_last_15m", "31x60"), fires=True),
    Case("SignageDisk", "room", room("15x60"), fires=False),
    Case("SignageDisk", "one large upload that went again", room("40x27 9 40x30"), fires=False),
    Case("SignageDisk", "full", room("9x60"), fires=True),
    Case("SignageNotTold", "all told", of_api("signage_notification_channels_failing", "0x60"), fires=False),
    Case("SignageNotTold", "a channel", of_api("signage_notification_channels_failing", "1x60"), fires=True),
    Case("SignageNotTold", "the queue", of_api("signage_notifications_overdue_seconds", "0+60x60"), fires=True),
    Case(
        "SignageMetricsMissing",
        "both answer, one bridge stands by",
        of_api("signage_listening", "1x60")
        | of_bridge("signage_bridge_leader", "1x60")
        | {'signage_bridge_leader{instance="b:8090", job="signage-bridge"}': "0x60"},
        fires=False,
    ),
    Case("SignageMetricsMissing", "no bridge leads", of_api("signage_listening", "1x60"), fires=True),
    Case("SignageMetricsMissing", "the api is silent", of_bridge("signage_bridge_leader", "1x60"), fires=True),
]


def promtool(*words: str | Path) -> str:
    """Run promtool, which must succeed. Returns its output."""
    program = shutil.which("promtool", path=PROGRAM_PATH)
    assert program is not None, "make test installs it: the Debian package prometheus"
    done = subprocess.run([program, *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def as_promtool_has_it(cases: list[Case]) -> dict[str, Any]:
    """These cases as a test for promtool: how many alerts of each name fire at its minute."""
    series = {name: values for case in cases for name, values in case.series.items()}
    return {
        "name": "; ".join(f"{case.alert}: {case.note}" for case in cases),
        "interval": "1m",
        "input_series": [{"series": name, "values": values} for name, values in series.items()],
        "promql_expr_test": [
            {
                "expr": f'count(ALERTS{{alertname="{case.alert}", alertstate="firing"}}) or vector(0)',
                "eval_time": f"{case.minute}m",
                "exp_samples": [{"labels": "{}", "value": int(case.fires)}],
            }
            for case in cases
        ],
    }


def that_do_not_meet() -> list[list[Case]]:
    """All cases in groups with different metrics, because each test of promtool makes a database."""
    asked_by = {rule["alert"]: set(METRIC.findall(rule["expr"])) for rule in rules()}
    groups: list[list[Case]] = []
    for case in CASES:
        mine = asked_by[case.alert]
        free = (group for group in groups if not any(mine & asked_by[one.alert] for one in group))
        if (group := next(free, None)) is None:
            groups.append(group := [])
        group.append(case)
    return groups


def test_each_alert_fires_when_it_should_and_not_before(tmp_path: Path) -> None:
    tests = {
        "rule_files": [str(FOLDER / "alerts.yaml")],
        "evaluation_interval": "30s",
        "tests": [as_promtool_has_it(cases) for cases in that_do_not_meet()],
    }
    written = tmp_path / "alerts_test.yaml"
    written.write_text(yaml.safe_dump(tests), encoding="utf-8")

    assert "SUCCESS" in promtool("test", "rules", written)


def test_each_alert_has_a_case_in_which_it_fires_and_one_in_which_it_does_not() -> None:
    names = {rule["alert"] for rule in rules()}

    assert names == DESIGNED
    for fires in (True, False):
        assert {case.alert for case in CASES if case.fires is fires} == names


def test_the_checker_sees_a_rule_that_never_fires(tmp_path: Path) -> None:
    text = (FOLDER / "alerts.yaml").read_text(encoding="utf-8")
    (tmp_path / "alerts.yaml").write_text(text.replace("signage_listening == 0", "signage_listening == 2"), "utf-8")
    case = next(case for case in CASES if case.alert == "SignageCanaryOld" and case.fires)
    (tmp_path / "test.yaml").write_text(
        yaml.safe_dump({"rule_files": ["alerts.yaml"], "tests": [as_promtool_has_it([case])]}), encoding="utf-8"
    )

    with pytest.raises(AssertionError, match="FAILED"):
        promtool("test", "rules", tmp_path / "test.yaml")


def test_prometheus_takes_the_shipped_configuration() -> None:
    shipped = yaml.safe_load((FOLDER / "prometheus.yaml").read_text(encoding="utf-8"))

    assert "SUCCESS" in promtool("check", "rules", FOLDER / "alerts.yaml")
    assert "SUCCESS" in promtool("check", "config", "--syntax-only", FOLDER / "prometheus.yaml")
    assert shipped["rule_files"] == ["alerts.yaml"]
    assert {job["job_name"]: job.get("metrics_path", "/metrics") for job in shipped["scrape_configs"]} == {
        "signage": "/api/metrics",
        "signage-bridge": "/metrics",
    }


@pytest.mark.parametrize("expression", sorted(set(asked())))
def test_rules_and_panels_ask_for_metrics_that_there_are(expression: str) -> None:
    named = set(METRIC.findall(expression))

    assert named
    assert named <= names_there()


def test_each_alert_tells_an_operator_what_it_means_and_where_it_says_what_to_do() -> None:
    guide = (REPOSITORY / "docs" / "alerts.md").read_text(encoding="utf-8")
    sections = re.findall(r"^## (Signage\w+)$", guide, re.MULTILINE)

    assert sections == [rule["alert"] for rule in rules()]
    for rule in rules():
        told = rule["annotations"]
        assert told["runbook"] == f"docs/alerts.md#{rule['alert'].lower()}"
        assert 20 <= len(told["summary"]) <= 60, rule["alert"]
        assert 100 <= len(told["description"]) <= 400, rule["alert"]
        assert rule["labels"]["severity"] in {"critical", "warning"}
    for section in re.split(r"^## Signage\w+$", guide, flags=re.MULTILINE)[1:]:
        assert "**Means.**" in section
        assert "**Do.**" in section
