"""The Zabbix template says what the alert rules say, of metrics that there are."""

import re
from collections.abc import Iterator
from typing import Any, Final

import pytest
import yaml

from tests.deploy.metrics_there import FOLDER, METRIC, names_there, rules

NUMBER: Final = re.compile(r"(?<![\w.#])\d+(?:\.\d+)?(?![\w.])")
KEY: Final = re.compile(r"\(/Signage Fleet by HTTP/(signage\.[\w.]+(?:\[[^]]*\])?)")
POLLS: Final = {"30s": "#2"}  # a period as the last polls
RULES: Final = {rule["alert"]: rule for rule in rules()}


WHOLE: Final[dict[str, Any]] = yaml.safe_load((FOLDER / "zabbix/signage.yaml").read_text("utf-8"))["zabbix_export"]
[TEMPLATE] = WHOLE["templates"]
DISCOVERIES: Final = TEMPLATE["discovery_rules"]
ITEMS: Final = [*TEMPLATE["items"], *(item for one in DISCOVERIES for item in one["item_prototypes"])]
TRIGGERS: Final = {
    trigger["tags"][0]["value"]: trigger
    for trigger in [*WHOLE["triggers"], *(each for one in DISCOVERIES for each in one.get("trigger_prototypes", ()))]
}


def patterns(one: dict[str, Any]) -> Iterator[str]:
    """The metrics that an item or a discovery picks."""
    for step in one.get("preprocessing", ()):
        if step["type"].startswith("PROMETHEUS"):
            yield step["parameters"][0]


METRICS: Final = {item["key"]: set(METRIC.findall(" ".join(patterns(item)))) for item in ITEMS}


def test_it_has_a_trigger_for_each_alert() -> None:
    assert TRIGGERS.keys() == RULES.keys()
    assert len(WHOLE["triggers"]) + sum(len(one.get("trigger_prototypes", ())) for one in DISCOVERIES) == len(RULES)


@pytest.mark.parametrize("alert", RULES)
def test_a_trigger_is_its_alert(alert: str) -> None:
    rule, trigger = RULES[alert], TRIGGERS[alert]
    expression = trigger["expression"]
    period = rule.get("for", "")

    assert trigger["name"].partition(":")[0] == rule["annotations"]["summary"]
    assert trigger["description"] == rule["annotations"]["runbook"]
    assert trigger["priority"] == {"critical": "HIGH", "warning": "WARNING"}[rule["labels"]["severity"]]
    assert POLLS.get(period, period) in expression
    assert set(NUMBER.findall(rule["expr"])) <= set(NUMBER.findall(expression))
    assert set(METRIC.findall(rule["expr"])) == set().union(*(METRICS[key] for key in KEY.findall(expression)))


def test_it_asks_for_metrics_that_there_are() -> None:
    named = {name for one in (*ITEMS, *DISCOVERIES) for name in METRIC.findall(" ".join(patterns(one)))}

    assert len(named) > 25
    assert named <= names_there()


def test_every_figure_comes_with_one_of_two_requests() -> None:
    asked = {item["key"]: item["url"] for item in ITEMS if item["type"] == "HTTP_AGENT"}

    assert asked == {
        "signage.api.metrics": "{$SIGNAGE.URL}/api/metrics",
        "signage.bridge.metrics": "{$SIGNAGE.BRIDGE.URL}/metrics",
    }
    for one in (*ITEMS, *DISCOVERIES):
        if one["key"] not in asked:
            [metric] = set(METRIC.findall(" ".join(patterns(one))))
            bridge = metric.startswith("signage_bridge_")
            assert one["master_item"]["key"] == ("signage.bridge.metrics" if bridge else "signage.api.metrics")


def test_the_token_is_a_secret_and_all_ids_differ() -> None:
    macros = {one["macro"]: one for one in TEMPLATE["macros"]}
    ids = re.findall(r"uuid: (\w+)", (FOLDER / "zabbix/signage.yaml").read_text(encoding="utf-8"))

    assert macros["{$SIGNAGE.TOKEN}"]["type"] == "SECRET_TEXT"
    assert len(ids) == len(set(ids)) > 50
    assert all(re.fullmatch(r"[0-9a-f]{12}4[0-9a-f]{3}[89ab][0-9a-f]{15}", one) for one in ids)
