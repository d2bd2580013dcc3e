"""The shipped Alertmanager configuration, run by a real Alertmanager that mails to a real mail server."""

import json
import shutil
import subprocess
import urllib.request
from collections.abc import Iterator
from email import message_from_bytes
from email.header import decode_header, make_header
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from deploy.local.prerequisites import PROGRAM_PATH
from deploy.parts.layout import LOOPBACK
from deploy.parts.probes import free_port, http_answers
from deploy.parts.short_lived import running
from tests.deploy.metrics_there import FOLDER, rules
from tests.receivers import Mailbox, mailbox
from tests.stack import eventually

PROGRAM: Final = shutil.which("prometheus-alertmanager", path=PROGRAM_PATH) or ""
SHIPPED: Final = FOLDER / "alertmanager.yaml"
SECONDS: Final = 120.0


@pytest.fixture
def mails() -> Iterator[Mailbox]:
    with mailbox() as server:
        yield server


@pytest.fixture
def alertmanager(tmp_path: Path, mails: Mailbox) -> Iterator[str]:
    """The address of an Alertmanager with the shipped configuration; its mail server is ours."""
    text = SHIPPED.read_text(encoding="utf-8")
    assert text.count("localhost:25") == 1
    told, port = tmp_path / "alertmanager.yaml", free_port()
    told.write_text(text.replace("localhost:25", f"{LOOPBACK}:{mails.port}"), encoding="utf-8")
    command = (PROGRAM, f"--config.file={told}", f"--storage.path={tmp_path / 'data'}", "--cluster.listen-address=")
    where = f"--web.listen-address={LOOPBACK}:{port}"
    with running((*command, where), http_answers(port, "/-/ready", 200), tmp_path / "log"):
        yield f"http://{LOOPBACK}:{port}/api/v2/alerts"


def fire(alertmanager: str, *names: str) -> None:
    """Let these alerts of alerts.yaml fire, as Prometheus does."""
    by_name = {rule["alert"]: rule for rule in rules()}
    body = [
        {"labels": {"alertname": name, **by_name[name]["labels"]}, "annotations": by_name[name]["annotations"]}
        for name in names
    ]
    request = urllib.request.Request(alertmanager, json.dumps(body).encode(), {"Content-Type": "application/json"})
    assert urllib.request.urlopen(request).status == 200


def kept_back(alertmanager: str) -> set[str]:
    """The alerts that are not told because of another one."""
    with urllib.request.urlopen(alertmanager) as answer:
        found: list[dict[str, Any]] = json.load(answer)
    return {one["labels"]["alertname"] for one in found if one["status"]["inhibitedBy"]}


def test_the_critical_alerts_come_at_once_in_one_mail_that_says_what_to_do(alertmanager: str, mails: Mailbox) -> None:
    fire(alertmanager, "SignageCanaryOld", "SignageStaleJump", "SignageDisk", "SignageDeadLetters")

    eventually(lambda: mails.mails, "a mail", SECONDS)
    mail = message_from_bytes(mails.mails[0])
    subject = str(make_header(decode_header(mail["Subject"])))
    body = next(part for part in mail.walk() if part.get_content_type() == "text/plain").get_payload(decode=True)

    assert subject.startswith("critical: ")
    assert "We do not hear the displays" in subject
    assert b"docs/alerts.md#signagecanaryold" in body
    assert b"docs/alerts.md#signagedisk" in body
    assert b"signagestalejump" not in body
    assert b"signagedeadletters" not in body  # it waits for its own mail
    assert (mail["From"], mail["To"]) == ("signage@example.org", "operator@example.org")


def test_what_only_follows_from_another_alert_is_kept_back(alertmanager: str) -> None:
    fire(alertmanager, "SignageCanaryOld", "SignageStaleJump", "SignageDisk")
    eventually(lambda: kept_back(alertmanager) == {"SignageStaleJump"}, "one that is kept back", SECONDS)

    fire(alertmanager, "SignageMetricsMissing")
    eventually(
        lambda: kept_back(alertmanager) == {"SignageCanaryOld", "SignageStaleJump", "SignageDisk"},
        "all but the missing figures",
        SECONDS,
    )


def test_every_alert_that_the_configuration_names_exists() -> None:
    told = yaml.safe_load(SHIPPED.read_text(encoding="utf-8"))
    named = {
        name
        for rule in told["inhibit_rules"]
        for matcher in (*rule["source_matchers"], *rule["target_matchers"])
        for name in matcher.split(" ")[-1].strip('"').split("|")
    }

    assert named - {"Signage.*"} <= {rule["alert"] for rule in rules()}


def test_prometheus_sends_its_alerts_to_it_and_takes_the_files() -> None:
    promtool = shutil.which("promtool", path=PROGRAM_PATH)
    assert promtool is not None
    checked = [promtool, "check", "config", "--syntax-only", str(FOLDER / "prometheus.yaml")]
    told = yaml.safe_load((FOLDER / "prometheus.yaml").read_text(encoding="utf-8"))

    assert subprocess.run(checked, check=False, capture_output=True).returncode == 0
    assert told["alerting"]["alertmanagers"] == [{"static_configs": [{"targets": ["127.0.0.1:9093"]}]}]
