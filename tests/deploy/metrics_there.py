"""The existing metrics, from the code, and the metrics in rules and panels."""

import json
import re
from collections.abc import Iterator
from typing import Any, Final

import yaml
from msgspec.structs import asdict
from prometheus_client.parser import text_string_to_metric_families

from bridge import probes
from bridge.status import BridgeProgress, Counters, Histogram, Snapshot
from deploy.parts.layout import REPOSITORY
from shared.overview.gauges.rules import MEANINGS, PREFIX

FOLDER: Final = REPOSITORY / "deploy" / "observability"
METRIC: Final = re.compile(r"\bsignage_\w+")


def rules() -> list[dict[str, Any]]:
    """The shipped alert rules."""
    [group] = yaml.safe_load((FOLDER / "alerts.yaml").read_text(encoding="utf-8"))["groups"]
    found: list[dict[str, Any]] = group["rules"]
    return found


def dashboard() -> dict[str, Any]:
    """The shipped Grafana dashboard."""
    found: dict[str, Any] = json.loads((FOLDER / "grafana-dashboard.json").read_text(encoding="utf-8"))
    return found


def panels() -> Iterator[dict[str, Any]]:
    """All panels of the dashboard, also those in a folded row."""
    for panel in dashboard()["panels"]:
        yield panel
        yield from panel.get("panels", [])


def asked() -> list[str]:
    """All expressions of rules and panels."""
    return [rule["expr"] for rule in rules()] + [t["expr"] for panel in panels() for t in panel.get("targets", [])]


def names_there() -> set[str]:
    """All names of samples in /api/metrics and in a leading bridge's /metrics."""
    return {PREFIX + name for name in MEANINGS} | set(_names_of_the_bridge())


def _names_of_the_bridge() -> Iterator[str]:
    snapshot = Snapshot(
        at=0.0,
        epoch=1,
        is_connected=True,
        **asdict(BridgeProgress()),
        waiting=0,
        counters=asdict(Counters()),
        dead_letters={},
        batch_seconds=Histogram(),
    )
    for family in text_string_to_metric_families(probes.text(snapshot, 0.0).decode()):
        yield from (sample.name for sample in family.samples)
