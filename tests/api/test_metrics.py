"""GET /api/metrics as a Prometheus reads it."""

import re
from collections.abc import Iterator
from typing import Any

from prometheus_client.parser import text_string_to_metric_families
from sqlalchemy import Engine

from shared.overview.gauges.rules import MEANINGS, PREFIX
from tests.api.people import Api
from tests.deploy.metrics_there import asked
from tests.stores.commands_world import new_client

SELECTOR = re.compile(r"(signage_\w+)\{([^}]*)\}")
MATCHER = re.compile(r'(\w+)(=~|!=|=)"([^"]*)"')


def samples(api: Api) -> list[Any]:
    """The samples that a Prometheus parses from the answer."""
    text = api.get("/api/metrics").get_data(as_text=True)
    return [sample for family in text_string_to_metric_families(text) for sample in family.samples]


def test_a_prometheus_with_a_viewers_token_reads_every_gauge_with_its_meaning(api: Api, engine: Engine) -> None:
    uuid = new_client(engine, site="Rome", status="running")

    answer = api.get("/api/metrics", "viewer")
    families = list(text_string_to_metric_families(answer.get_data(as_text=True)))

    assert answer.headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
    assert {(family.name, family.documentation) for family in families} == {
        (PREFIX + name, meaning) for name, meaning in MEANINGS.items()
    }
    assert {family.type for family in families} == {"gauge"}
    [running] = [s for s in samples(api) if s.name == "signage_clients" and s.labels == {"status": "running"}]
    assert running.value == 1
    assert uuid not in answer.get_data(as_text=True)
    assert "Rome" not in answer.get_data(as_text=True)


def test_strangers_read_no_figures(api: Api) -> None:
    assert api.get("/api/metrics", None).status_code == 401


def test_every_selector_of_rules_and_panels_finds_something(api: Api) -> None:
    found = samples(api)

    selectors = list(selectors_of_ours())
    assert len(selectors) >= 6
    for name, matchers in selectors:
        assert any(s.name == name and fits(s.labels, matchers) for s in found), (name, matchers)


def selectors_of_ours() -> Iterator[tuple[str, list[tuple[str, str, str]]]]:
    for expression in asked():
        for name, inside in SELECTOR.findall(expression):
            if name.removeprefix(PREFIX) in MEANINGS:
                yield name, MATCHER.findall(inside)


def fits(labels: dict[str, str], matchers: list[tuple[str, str, str]]) -> bool:
    """Whether a sample has all labels of the matchers; for `!=` any value will do."""
    for label, kind, value in matchers:
        if label not in labels:
            return False
        if kind == "=" and labels[label] != value:
            return False
        if kind == "=~" and not re.fullmatch(value, labels[label]):
            return False
    return True
