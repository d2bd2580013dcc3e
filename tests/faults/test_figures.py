"""The figures in the documentation are what a ledger says, and say so when it failed."""

from tests.lab.campaigns.figures import rewritten, section

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
    row = section([LEDGER]).splitlines()[-1]

    assert "passed" in row
    assert "displays 200, lost 0 |" in row
    assert "a machine; commit abc, seed 7, 2026-01-02" in row


def test_a_row_says_on_what_else_it_ran() -> None:
    row = section([{**LEDGER, "note": "an engine; stand-ins: none"}]).splitlines()[-1]

    assert "a machine; an engine; stand-ins: none; commit abc" in row


def test_a_condition_that_does_not_hold_is_named() -> None:
    failed = {**LEDGER, "conditions": {"no line lost": False, "no line twice": True}}

    assert "| failed: no line lost |" in section([failed])


def test_the_section_is_replaced_and_what_follows_it_stays() -> None:
    document = "# Promises\n\n## Figures\n\nold\n\n## Limits\n\nlast\n"

    assert rewritten(document, "## Figures\n\nnew\n") == "# Promises\n\n## Figures\n\nnew\n\n## Limits\n\nlast\n"


def test_a_document_without_figures_gets_them_at_its_end() -> None:
    assert rewritten("# Promises\n", "## Figures\n\nnew\n") == "# Promises\n\n## Figures\n\nnew\n"
