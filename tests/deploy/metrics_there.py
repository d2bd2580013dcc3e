"""Which metrics there are, by the code that tells them, and which ones rules and panels ask for."""

import json
import re
from collections.abc import Iterator
from typing import Any, Final

import yaml
from prometheus_client.parser import text_string_to_metric_families

from bridge import probes
from bridge.status import BridgeProgress, Counters, Histogram, Snapshot
from deploy.parts.layout import REPOSITORY
from shared.overview.gauges.rules import MEANINGS, PREFIX

FOLDER: Final = REPOSITORY / "deploy" / "observability"
METRIC: Final = re.compile(r"\bsignage_\w+")


def rules() -> list[dict[str, Any]]:
    """The alert rules as they are shipped."""
    [group] = yaml.safe_load((FOLDER / "alerts.yaml").read_text(encoding="utf-8"))["groups"]
    found: list[dict[str, Any]] = group["rules"]
    return found


def dashboard() -> dict[str, Any]:
    """The Grafana dashboard as it is shipped."""
    found: dict[str, Any] = json.loads((FOLDER / "grafana-dashboard.json").read_text(encoding="utf-8"))
    return found


def panels() -> Iterator[dict[str, Any]]:
    """Every panel of it, those that a folded row holds too."""
    for panel in dashboard()["panels"]:
        yield panel
        yield from panel.get("panels", [])


def asked() -> list[str]:
    """Every expression of rules and panels."""
    return [rule["expr"] for rule in rules()] + [t["expr"] for panel in panels() for t in panel.get("targets", [])]


def names_there() -> set[str]:
    """Every name of a sample that /api/metrics or a leading bridge's /metrics can have."""
    return {PREFIX + name for name in MEANINGS} | set(_names_of_the_bridge())


def _names_of_the_bridge() -> Iterator[str]:
    snapshot = Snapshot(
        at=0.0,
        epoch=1,
        is_connected=True,
        **vars(BridgeProgress()),
        waiting=0,
        counters=vars(Counters()),
        dead_letters={},
        batch_seconds=Histogram(),
    )
    for family in text_string_to_metric_families(probes.text(snapshot, 0.0).decode()):
        yield from (sample.name for sample in family.samples)
