"""The figures in the documentation are those of a ledger, and show its failure."""

import json
from pathlib import Path

import pytest

from tests.lab.campaigns import figures
from tests.lab.campaigns.figures import published, rewritten, row, section

LEDGER = {
    "name": "kills",
    "seed": 7,
    "sizes": {"displays": 200},
    "counted": {"lost": 0, "repeats": 5},
    "conditions": {"no line lost": True},
    "machine": "a machine",
    "commit": "abc",
    "at": "2026-01-02T03:04:05+00:00",
}


def test_a_ledger_becomes_a_row_with_machine_commit_and_seed() -> None:
    text = section([row(LEDGER)])

    last = text.splitlines()[-1]
    assert last.startswith("kill -9 of bridge, Postgres and broker | displays 200 | A, abc")
    assert last.endswith(" | A, abc, seed 7, 2026-01-02")
    assert "\n- A: a machine\n" in text


def test_each_machine_is_named_once_with_what_else_ran_there() -> None:
    other = {**LEDGER, "note": "an engine; stand-ins: none"}

    lines = section([row(LEDGER), row(other), row(LEDGER)]).splitlines()

    assert [line for line in lines if line.startswith("- ")] == [
        "- A: a machine",
        "- B: A; an engine; stand-ins: none",
    ]
    assert [line.split("|")[2].split(",")[0].strip() for line in lines[-3:]] == ["A", "B", "A"]


def test_a_condition_that_does_not_hold_is_named() -> None:
    failed = {**LEDGER, "conditions": {"no line lost": False, "no line twice": True}}

    text = section([row(failed)])
    assert "(**failed: no line lost**) | displays 200 |" in text
    assert published(text) == [row(failed)]


def test_an_experiment_that_did_not_come_about_is_named_and_is_no_failure() -> None:
    text = section([row({**LEDGER, "experiments": {"lines waited": False, "clocks leapt": True}})])

    assert "(**did not come about: lines waited**) | displays 200 |" in text
    assert "failed" not in text


def test_the_section_is_replaced_and_what_follows_it_stays() -> None:
    document = "# Promises\n\n## Figures\n\nold\n\n## Limits\n\nlast\n"

    assert rewritten(document, "## Figures\n\nnew\n") == "# Promises\n\n## Figures\n\nnew\n\n## Limits\n\nlast\n"


def test_a_document_without_figures_gets_them_at_its_end() -> None:
    assert rewritten("# Promises\n", "## Figures\n\nnew\n") == "# Promises\n\n## Figures\n\nnew\n"


def test_the_rows_of_a_document_are_read_as_they_were_written() -> None:
    rows = [row(LEDGER), row({**LEDGER, "name": "hang", "note": "an engine", "counted": {}})]

    assert published(rewritten("# Promises\n", section(rows))) == rows


def test_a_row_stays_until_its_campaign_runs_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    document, older = tmp_path / "promises.md", {**LEDGER, "commit": "older", "machine": "another machine"}
    document.write_text(section([row(older), row({**older, "name": "hang"})]), encoding="utf-8")
    (tmp_path / "kills.json").write_text(json.dumps(LEDGER), encoding="utf-8")
    monkeypatch.setattr(figures, "RESULTS", tmp_path)

    figures.main([str(document)])

    rows = published(document.read_text(encoding="utf-8"))
    assert rows == [row(LEDGER), row({**older, "name": "hang"})]
