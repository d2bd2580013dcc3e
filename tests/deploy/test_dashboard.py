"""The shipped Grafana dashboard is complete and readable, and every panel uses existing metrics."""

import itertools
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import yaml

from tests.deploy.metrics_there import METRIC, dashboard, names_there, panels
from tests.deploy.test_alerts import promtool

WIDTH = 24  # Grafana's columns


def test_every_expression_is_one_that_prometheus_understands(tmp_path: Path) -> None:
    expressions = [target["expr"] for panel in panels() for target in panel.get("targets", [])]
    recorded = [{"record": f"panel:{n}", "expr": expression} for n, expression in enumerate(expressions)]
    (tmp_path / "panels.yaml").write_text(yaml.safe_dump({"groups": [{"name": "panels", "rules": recorded}]}), "utf-8")

    assert f"{len(expressions)} rules found" in promtool("check", "rules", tmp_path / "panels.yaml")
    assert len(expressions) >= 20


def test_ids_are_unique_and_nothing_lies_upon_anything_else() -> None:
    taken = Counter(place for panel in panels() for place in places(panel["gridPos"]))

    assert max(Counter(panel["id"] for panel in panels()).values()) == 1
    assert max(taken.values()) == 1
    assert all(0 <= column < WIDTH for column, _ in taken)


def places(at: dict[str, int]) -> Iterable[tuple[int, int]]:
    return itertools.product(range(at["x"], at["x"] + at["w"]), range(at["y"], at["y"] + at["h"]))


def test_every_panel_says_what_it_shows_and_asks_the_chosen_prometheus() -> None:
    chosen = {"type": "prometheus", "uid": "${datasource}"}
    variables: list[dict[str, Any]] = dashboard()["templating"]["list"]

    assert [(one["name"], one["type"], one["query"]) for one in variables] == [
        ("datasource", "datasource", "prometheus")
    ]
    for panel in panels():
        assert panel["title"]
        if panel["type"] == "row":
            continue
        assert panel["description"], panel["title"]
        assert panel["datasource"] == chosen
        assert all(target["datasource"] == chosen and target["legendFormat"] for target in panel["targets"])
        assert len({target["refId"] for target in panel["targets"]}) == len(panel["targets"])


def test_every_part_of_the_service_is_on_it() -> None:
    shown = {
        name for panel in panels() for target in panel.get("targets", []) for name in METRIC.findall(target["expr"])
    }

    for part in (
        "clients",
        "commands_open",
        "outbox",
        "conversions",
        "bridge_received",
        "bridge_batch",
        "tick_duration",
    ):
        assert any(name.startswith(f"signage_{part}") for name in shown), part
    assert len(shown) >= len(names_there()) / 2
