"""The stages before the end of a certificate, and their notifications."""

from datetime import UTC, datetime, timedelta

import pytest

from extensions.notifications.channels.rules import CRITICAL, DEFAULT_EVENTS
from extensions.notifications.troubles.rules import certificate_stage
from extensions.notifications.troubles.words_rules import certificate_end, certificate_ends
from shared.vocabulary import Door, NotificationEvent
from shared.words.facts import in_zone
from shared.words.reader import english

END = datetime(2026, 12, 7, 12, tzinfo=UTC)
DAY, HOUR, SECOND = timedelta(days=1), timedelta(hours=1), timedelta(seconds=1)


@pytest.mark.parametrize(
    ("lifetime", "left", "event", "words"),
    [
        (90 * DAY, 90 * DAY, None, None),
        (90 * DAY, 14 * DAY + SECOND, None, None),
        (90 * DAY, 14 * DAY, NotificationEvent.CERTIFICATE_OLD, "ends within 14 days"),
        (90 * DAY, 3 * DAY + SECOND, NotificationEvent.CERTIFICATE_OLD, "ends within 14 days"),
        (90 * DAY, 3 * DAY, NotificationEvent.CERTIFICATE_ENDING, "ends within 3 days"),
        (90 * DAY, SECOND, NotificationEvent.CERTIFICATE_ENDING, "ends within 3 days"),
        (90 * DAY, 0 * DAY, NotificationEvent.CERTIFICATE_ENDING, "has ended"),
        (90 * DAY, -30 * DAY, NotificationEvent.CERTIFICATE_ENDING, "has ended"),
        (6 * DAY, 2 * DAY + SECOND, None, None),
        (6 * DAY, 2 * DAY, NotificationEvent.CERTIFICATE_OLD, "ends within 2 days"),
        (6 * DAY, 14.4 * HOUR + SECOND, NotificationEvent.CERTIFICATE_OLD, "ends within 2 days"),
        (6 * DAY, 14.4 * HOUR, NotificationEvent.CERTIFICATE_ENDING, "ends within 15 hours"),
        (160 * HOUR, 53 * HOUR, NotificationEvent.CERTIFICATE_OLD, "ends within 3 days"),
        (timedelta(), SECOND, None, None),
    ],
)
def test_the_stage_of_a_certificate_is_a_share_of_its_lifetime(
    lifetime: timedelta, left: timedelta, event: NotificationEvent | None, words: str | None
) -> None:
    stage = certificate_stage(END - lifetime, END, END - left)

    title = stage and english(certificate_ends(door=Door.PEOPLE, seconds=stage.seconds))
    assert (stage and stage.event, title) == (event, words and f"The certificate of the dashboard {words}")
    assert stage is None or stage.since <= END - left


def test_only_the_last_days_are_told_at_all_hours_and_new_channels_hear_of_both() -> None:
    both = {NotificationEvent.CERTIFICATE_OLD, NotificationEvent.CERTIFICATE_ENDING}

    assert both & CRITICAL == {NotificationEvent.CERTIFICATE_ENDING}
    assert both <= set(DEFAULT_EVENTS)


def test_it_is_told_when_a_certificate_ends_and_whom_that_hits() -> None:
    end = in_zone(END, "UTC")
    assert english(certificate_end(door=Door.DISPLAYS, at=end, has_ended=False)) == (
        "It ends on 7 December 2026, 12:00 (UTC). "
        "No display connects any more then, until the door shows a renewed one."
    )
    assert english(certificate_end(door=Door.PEOPLE, at=end, has_ended=True)) == (
        "It ended on 7 December 2026, 12:00 (UTC). "
        "Browsers warn of the dashboard then, until the door shows a renewed one."
    )
