"""One LibreOffice and its ends, without the converter."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from deploy.parts.converter import office as office_module
from deploy.parts.converter.office import (
    MOST_STARTS,
    START_ME_AGAIN,
    ConversionFailed,
    ConversionTimedOut,
    Office,
    find_program,
)
from deploy.parts.converter.sandbox import INSIDE, Sandbox
from tests.worker import decks

pytestmark = pytest.mark.slow
SECONDS = 240


@pytest.fixture
def office(tmp_path: Path) -> Iterator[Office]:
    """An office whose program asks for a restart as often as the file `restarts` demands, and then is LibreOffice."""
    made = Office(Sandbox(isolated=True), INSIDE / "program", tmp_path / "office")
    program = made.work / "program"
    program.write_text(
        f"""#!/bin/sh
left=$(cat {INSIDE}/restarts)
[ "$left" -eq 0 ] && exec {find_program()} "$@"
echo $((left - 1)) > {INSIDE}/restarts
exit {START_ME_AGAIN}
"""
    )
    program.chmod(0o755)
    yield made
    made.close()


def with_restarts(office: Office, number: int) -> Office:
    (office.work / "restarts").write_text(f"{number}\n")
    return office


def a_deck(folder: Path) -> Path:
    decks.make_odp(folder / "deck.odp", 1)
    return folder / "deck.odp"


def test_it_is_started_again_where_it_asks_for_that(office: Office, tmp_path: Path) -> None:
    """LibreOffice's own start scripts do that, but they are not used here."""
    template = with_restarts(office, MOST_STARTS - 1).make_template()
    assert (template / "user").is_dir()

    with_restarts(office, MOST_STARTS - 1).begin(a_deck(tmp_path), ".odp")

    assert office.finish(time.monotonic() + SECONDS).read_bytes()[:5] == b"%PDF-"


def test_one_that_asks_again_and_again_has_failed_and_its_exit_code_is_told(office: Office, tmp_path: Path) -> None:
    with_restarts(office, 0).make_template()

    with_restarts(office, 100).begin(a_deck(tmp_path), ".odp")

    with pytest.raises(ConversionFailed, match=f"exit code {START_ME_AGAIN}; it said nothing"):
        office.finish(time.monotonic() + SECONDS)
    assert (office.work / "restarts").read_text() == f"{100 - MOST_STARTS}\n"


@pytest.mark.parametrize(("program", "busy"), [("while :; do :; done", True), ("sleep 600", False)])
def test_at_the_deadline_it_is_told_whether_the_document_kept_it_busy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: str, busy: bool
) -> None:
    monkeypatch.setattr(office_module, "BUSY", 0.05)  # other work on the machine may leave it little more
    made = Office(Sandbox(isolated=True), INSIDE / "program", tmp_path / "office")
    (made.work / "program").write_text(f"#!/bin/sh\n{program}\n")
    (made.work / "program").chmod(0o755)
    made.begin(a_deck(tmp_path), ".odp")

    with pytest.raises(ConversionTimedOut) as ended:
        made.finish(time.monotonic() + 3)

    made.close()
    assert ended.value.was_busy == busy
