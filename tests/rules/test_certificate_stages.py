"""The stages before the end of a certificate, and their notifications."""

from datetime import UTC, datetime, timedelta

import pytest

from extensions.notifications.channels.rules import CRITICAL, DEFAULT_EVENTS
from extensions.notifications.troubles.rules import DOORS, certificate_cause, certificate_stage
from shared.vocabulary import Door, NotificationEvent

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

    assert (stage and stage.event, stage and stage.words) == (event, words)
    assert stage is None or stage.since <= END - left


def test_only_the_last_days_are_told_at_all_hours_and_new_channels_hear_of_both() -> None:
    both = {NotificationEvent.CERTIFICATE_OLD, NotificationEvent.CERTIFICATE_ENDING}

    assert both & CRITICAL == {NotificationEvent.CERTIFICATE_ENDING}
    assert both <= set(DEFAULT_EVENTS)


def test_every_door_has_words() -> None:
    assert set(DOORS) == set(Door)
    assert certificate_cause(Door.DISPLAYS, END, has_ended=False) == (
        "It ends on 2026-12-07 12:00 (UTC). No display connects any more then, until the door shows a renewed one."
    )
    assert certificate_cause(Door.PEOPLE, END, has_ended=True) == (
        "It ended on 2026-12-07 12:00 (UTC). Browsers warn of the dashboard then, until the door shows a renewed one."
    )
