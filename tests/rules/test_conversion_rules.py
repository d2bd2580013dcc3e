"""The moves of a conversion, the faults that are retried, and the timeouts."""

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.conversions import report_rules, rules
from shared.conversions.report_rules import Findings
from shared.conversions.rules import ConversionMove, Fault, FaultVerdict
from shared.errors import Encrypted, NoSlides, NotAPresentation, NotConvertible, TooLargeUnpacked
from shared.event_media.contents.rules import Contents
from shared.vocabulary import ConversionStatus, MediaKind

GIVE_UP = FaultVerdict(ConversionMove.FAIL, counts=True)
TRY_AGAIN = FaultVerdict(ConversionMove.RELEASE, counts=True)
WAIT = FaultVerdict(ConversionMove.RELEASE, counts=False)

VERDICTS = [
    (Fault.SOURCE_MISSING, 1, GIVE_UP, "a missing file does not come back"),
    (Fault.SOURCE_CHANGED, 1, GIVE_UP, "nor does a changed one"),
    (Fault.ENCRYPTED, 1, GIVE_UP, "nobody will type the password"),
    (Fault.CONVERTER_REFUSED, 1, GIVE_UP, "400, 413, 415 stay"),
    (Fault.CONVERTER_FAILED, 1, TRY_AGAIN, "a 500 may be the converter's own trouble"),
    (Fault.CONVERTER_FAILED, 2, TRY_AGAIN, "twice too"),
    (Fault.CONVERTER_FAILED, 3, GIVE_UP, "three times is the deck's fault"),
    (Fault.INVALID_PDF, 1, TRY_AGAIN, "a broken PDF once"),
    (Fault.INVALID_PDF, 2, GIVE_UP, "a broken PDF twice"),
    (Fault.CONVERTER_BUSY, 3, GIVE_UP, "a deck that takes its machine down each time"),
    (Fault.CONVERTER_CUT, 3, GIVE_UP, "a deck that kills the converter each time"),
    (Fault.CONVERTER_UNREACHABLE, 99, WAIT, "an outage fails nothing"),
    (Fault.QUEUE_FULL, 99, WAIT, "nor does a crowd of uploads"),
    (Fault.VOLUME_UNAVAILABLE, 99, WAIT, "nor a full disk"),
    (Fault.ATTEMPTS_USED_UP, 4, GIVE_UP, "the worker was killed on every try"),
]


@pytest.mark.parametrize(("fault", "attempts", "verdict", "why"), VERDICTS)
def test_each_fault_has_its_verdict(fault: Fault, attempts: int, verdict: FaultVerdict, why: str) -> None:
    assert rules.judge(fault, attempts) == verdict, why


@pytest.mark.parametrize("fault", Fault)
def test_no_fault_that_counts_is_tried_for_ever(fault: Fault) -> None:
    verdict = rules.judge(fault, rules.MAX_ATTEMPTS)

    assert verdict.move is ConversionMove.FAIL or not verdict.counts


def test_every_fault_has_words_for_people() -> None:
    assert set(rules.MESSAGES) == set(Fault)
    assert all(message.endswith(".") for message in rules.MESSAGES.values())


STATUSES = [
    (400, Fault.CONVERTER_REFUSED),
    (404, Fault.CONVERTER_FAILED),
    (413, Fault.CONVERTER_REFUSED),
    (415, Fault.CONVERTER_REFUSED),
    (429, Fault.QUEUE_FULL),
    (500, Fault.CONVERTER_FAILED),
    (502, Fault.CONVERTER_BUSY),
    (503, Fault.CONVERTER_BUSY),
    (504, Fault.TOOK_TOO_LONG),
]


@pytest.mark.parametrize(("status", "fault"), STATUSES)
def test_each_answer_of_the_converter_has_its_meaning(status: int, fault: Fault) -> None:
    assert rules.fault_of_answer(status) is fault


def test_a_refusal_of_the_file_keeps_its_word() -> None:
    for error in (NotAPresentation(), Encrypted(), TooLargeUnpacked(), NoSlides()):
        assert rules.fault_of_refusal(error).value == error.code


@given(seconds=st.integers(5, 1200))
def test_whoever_waits_for_another_waits_longer(seconds: int) -> None:
    ladder = rules.timeouts(timedelta(seconds=seconds))

    assert ladder.connect < ladder.request
    assert ladder.converter < ladder.request < ladder.function < ladder.dispatch < ladder.lease
    assert timedelta(seconds=15) <= ladder.dispatch <= timedelta(minutes=30), "what Cloud Tasks accepts"


@given(moves=st.lists(st.sampled_from(ConversionMove), max_size=30))
def test_a_ready_conversion_stays_ready_and_a_failed_one_leaves_on_request_only(
    moves: list[ConversionMove],
) -> None:
    status = ConversionStatus.PENDING
    for move in moves:
        sources, target = rules.MOVES[move]
        if status not in sources:
            continue
        assert status is not ConversionStatus.READY or move is ConversionMove.REBUILD
        assert status is not ConversionStatus.FAILED or move in {ConversionMove.REQUEST, ConversionMove.REBUILD}
        status = target


def test_every_state_can_be_reached_and_every_open_one_can_be_left() -> None:
    assert {target for _, target in rules.MOVES.values()} == set(ConversionStatus)
    assert {source for sources, _ in rules.MOVES.values() for source in sources} == {*ConversionStatus}


@pytest.mark.parametrize("kind", MediaKind)
def test_only_presentations_can_be_converted(kind: MediaKind) -> None:
    if kind in {"ppt", "pptx", "odp"}:
        rules.check_convertible(kind)
    else:
        with pytest.raises(NotConvertible):
            rules.check_convertible(kind)


REPORTS = [
    (3, 3, 0, []),
    (2, 3, 0, ["pages_differ"]),
    (3, 3, 2, ["hidden_slides"]),
    (1, 2, 1, ["pages_differ", "hidden_slides"]),
    (4, None, None, []),
]


@pytest.mark.parametrize(("pages", "visible", "hidden", "warnings"), REPORTS)
def test_the_report_warns_of_what_people_would_miss(
    pages: int, visible: int | None, hidden: int | None, warnings: list[str]
) -> None:
    report = report_rules.report(Findings(pages, visible, hidden, (), Contents(), has_thumbnail=False))

    assert report["pages"] == pages
    assert [warning["code"] for warning in report["warnings"]] == warnings


FONTS = [
    ("Carlito", "Carlito", True),
    ("OpenSans-BoldItalic", "Open Sans", True),
    ("TimesNewRomanPS-BoldMT", "Times New Roman", True),
    ("ArialMT", "Arial", True),
    ("ArialNarrow", "Arial", False),  # another family
    ("LiberationSansNarrow-Bold", "Liberation Sans", False),
    ("NotoSansCJKjp-Regular", "Noto Sans", False),
    ("DejaVuSans", "DejaVu Sans Mono", False),
    ("Anything", "", False),
]


@pytest.mark.parametrize(("name", "family", "same"), FONTS)
def test_a_font_of_the_pdf_belongs_to_a_family_or_does_not(name: str, family: str, same: bool) -> None:
    assert report_rules.is_font_of(name, family) is same


def reported(contents: Contents | None, embedded: tuple[str, ...] | None) -> dict[str, Any]:
    return report_rules.report(Findings(2, 2, 0, embedded, contents, has_thumbnail=True))


def test_a_deck_whose_fonts_are_all_there_has_no_warning() -> None:
    report = reported(Contents(fonts={"Open Sans", "Carlito"}), ("OpenSans-Bold", "Carlito", "OpenSymbol"))

    assert report["warnings"] == []
    assert report["fonts"]["substituted"] == []


def test_a_font_that_was_substituted_is_named_and_whether_its_letters_are_as_wide() -> None:
    report = reported(Contents(fonts={"Calibri", "Futura", "Cambria"}), ("Carlito-Bold", "DejaVuSans"))

    assert report["warnings"] == [
        {
            "code": "fonts_substituted",
            "fonts": ["Calibri", "Cambria", "Futura"],
            "same_widths": {"Calibri": "Carlito"},
        }
    ]


@pytest.mark.parametrize(
    ("contents", "embedded", "code"),
    [
        (None, (), "contents_not_known"),
        (Contents(fonts=None), ("Carlito",), "fonts_not_known"),
        (Contents({"Futura"}), None, "fonts_not_known"),
    ],
)
def test_what_could_not_be_seen_is_said_to_be_unknown(contents: Contents | None, embedded: Any, code: str) -> None:
    report = reported(contents, embedded)

    assert (report["fonts"], [warning["code"] for warning in report["warnings"]]) == (None, [code])


def test_fonts_that_a_file_only_lists_are_known_when_the_pdf_has_all_of_them() -> None:
    report = reported(Contents(fonts=None, listed_fonts={"Open Sans", "Carlito"}), ("OpenSans-Bold", "Carlito"))

    assert (report["fonts"]["substituted"], report["warnings"]) == ([], [])


def test_of_fonts_that_a_file_only_lists_those_that_the_pdf_lacks_may_be_missing() -> None:
    report = reported(Contents(fonts=None, listed_fonts={"Arial", "Futura"}), ("LiberationSans",))

    warning = {"code": "fonts_not_known", "fonts": ["Arial", "Futura"], "same_widths": {"Arial": "Liberation Sans"}}
    assert (report["fonts"], report["warnings"]) == (None, [warning])


def test_what_moves_and_what_lies_outside_is_counted() -> None:
    contents = Contents(videos=1, audios=2, animated_slides=3, hyperlinks=["https://a"], linked_files=["file:///b"])

    warnings = {warning.pop("code"): warning for warning in reported(contents, ())["warnings"]}

    assert warnings == {
        "motion_lost": {"videos": 1, "audios": 2, "animated_slides": 3},
        "links_not_followed": {"count": 1, "targets": ["file:///b"]},
        "hyperlinks": {"count": 1, "targets": ["https://a"]},
    }
