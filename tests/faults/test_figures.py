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
    text = section([LEDGER])

    row = text.splitlines()[-1]
    assert "passed" in row
    assert "displays 200; none: lost |" in row
    assert "| A, abc, seed 7, 2026-01-02 |" in row
    assert "\n- A: a machine\n" in text


def test_each_machine_is_named_once_with_what_else_ran_there() -> None:
    other = {**LEDGER, "note": "an engine; stand-ins: none"}

    lines = section([LEDGER, other, LEDGER]).splitlines()

    assert [line for line in lines if line.startswith("- ")] == [
        "- A: a machine",
        "- B: a machine; an engine; stand-ins: none",
    ]
    assert [line.split("|")[4].split(",")[0].strip() for line in lines[-3:]] == ["A", "B", "A"]


def test_a_condition_that_does_not_hold_is_named() -> None:
    failed = {**LEDGER, "conditions": {"no line lost": False, "no line twice": True}}

    assert "| failed: no line lost |" in section([failed])


def test_the_section_is_replaced_and_what_follows_it_stays() -> None:
    document = "# Promises\n\n## Figures\n\nold\n\n## Limits\n\nlast\n"

    assert rewritten(document, "## Figures\n\nnew\n") == "# Promises\n\n## Figures\n\nnew\n\n## Limits\n\nlast\n"


def test_a_document_without_figures_gets_them_at_its_end() -> None:
    assert rewritten("# Promises\n", "## Figures\n\nnew\n") == "# Promises\n\n## Figures\n\nnew\n"
