"""The form of a quiet time follows the service's rules of each preset (`dashboard/tests/quiet_form.test.js`)."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import pytest

from deploy.parts.layout import REPOSITORY
from shared.errors import QuietTimesRefused
from shared.quiet import hours_rules, rules
from shared.quiet.rules import WantedQuietTime
from shared.vocabulary import Quiet, QuietPreset, QuietScope, Weekday

CASES: Final[list[dict[str, Any]]] = json.loads(
    (REPOSITORY / "dashboard" / "tests" / "quiet_presets.json").read_text(encoding="utf-8")
)
"""What the form knows of each preset: the page's tests hold the form to the same cases."""
NOW: Final = datetime(2026, 3, 10, 12, tzinfo=UTC)
MORNINGS: Final = hours_rules.span(tuple(Weekday), "06:00", "09:00", None)


@dataclass(frozen=True)
class Asked:
    """A preset as a person asks for it."""

    preset: QuietPreset
    reason: str = "New panels"
    hours: float | None = 1
    is_weekly: bool = False

    def refusal(self) -> str | None:
        """The code of the rule that it breaks; None: the service takes it."""
        wanted = WantedQuietTime(
            preset=self.preset,
            quiet=(Quiet.RECOVERY,),
            scope=QuietScope.FLEET,
            site=None,
            tag=None,
            clients=(),
            starts_at=None,
            ends_at=None if self.hours is None else NOW + timedelta(hours=self.hours),
            spans=(MORNINGS,) if self.is_weekly else (),
            time_zone="Europe/Rome" if self.is_weekly else None,
            reason=self.reason,
        )
        try:
            rules.checked(wanted, NOW)
        except QuietTimesRefused as error:
            return error.sentence.code
        return None


def made_quiet(preset: QuietPreset) -> Sequence[Quiet] | None:
    """What the preset makes quiet by itself; None: the person says it."""
    try:
        return rules.chosen(preset, None)
    except QuietTimesRefused:
        return None


@pytest.mark.parametrize("case", CASES, ids=[case["preset"] for case in CASES])
def test_the_form_knows_the_rules_of_a_preset(case: dict[str, Any]) -> None:
    preset = QuietPreset(case["preset"])
    ends = None if preset is QuietPreset.LEAVE_OUT else 1  # the form asks for no end then
    refused = {
        is_weekly: Asked(preset, hours=ends, is_weekly=is_weekly).refusal() is not None for is_weekly in (False, True)
    }

    assert made_quiet(preset) == (None if case["quiet"] is None else tuple(case["quiet"]))
    assert (Asked(preset, reason=" ").refusal() == "quiet_needs_reason") is case["needs_reason"]
    assert refused == {False: case["hours"] == "must", True: case["hours"] == "never"}
    assert (Asked(preset, hours=None).refusal() == "quiet_needs_end") is case["needs_end"]
    assert case["hours"] == "never" or Asked(preset, hours=None, is_weekly=True).refusal() is None
    assert [Asked(preset, hours=hours).refusal() for hours in case["lengths"]] == [None] * len(case["lengths"])


def test_the_form_has_every_preset() -> None:
    assert [case["preset"] for case in CASES] == list(QuietPreset)


def test_the_form_offers_everything_that_may_be_quiet() -> None:
    form = (REPOSITORY / "dashboard" / "lib" / "quiet_form.js").read_text(encoding="utf-8")

    assert f"export const QUIET = /** @type {{const}} */ ({json.dumps(list(Quiet))});" in form
