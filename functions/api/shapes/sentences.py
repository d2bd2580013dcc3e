"""Sentences for people as codes and facts, beside their English.

Each shape names the codes of one noun and the facts of each code. While versions change, a newer code may come too.
"""

from collections.abc import Sequence
from typing import Annotated, Any, Final

import msgspec

from extensions.batches.rules import BATCHES
from extensions.batches.schedules_rules import SCHEDULES
from extensions.history.rules import HISTORY
from extensions.notifications.deliveries.rules import UNSENT
from functions.api import fields as _fields  # noqa: F401 - adds the sentences about fields to REFUSALS
from functions.api.bodies import Answer
from shared import errors
from shared.clients.signs_rules import REFUSALS
from shared.commands.rules import ENDINGS
from shared.incidents.causes_rules import CAUSES
from shared.incidents.timeline_rules import TIMELINE
from shared.outside.couriers.words import COURIERS
from shared.quiet.rules import QUIET_WORDS
from shared.recovery.words_rules import BREAKERS, RECOVERY
from shared.sentences import Coded, Phrases


def _code(phrases: Phrases) -> msgspec.Meta:
    return msgspec.Meta(extra_json_schema={"enum": phrases.codes})


def _params(phrases: Phrases) -> msgspec.Meta:
    facts = "; ".join(f"{code}: {', '.join(names) or 'none'}" for code, names in phrases.params.items())
    return msgspec.Meta(description=f"by code: {facts}")


class RecoverySentence(Answer):
    """A sentence of recovery, of a quiet time or of the cause of an incident; sentences follow one another."""

    code: Annotated[str, _code(RECOVERY)]
    params: Annotated[dict[str, Any], _params(RECOVERY)]


class BreakerSentence(Answer):
    """A sentence about a breaker."""

    code: Annotated[str, _code(BREAKERS)]
    params: Annotated[dict[str, Any], _params(BREAKERS)]


class CauseSentence(Answer):
    """The cause of an incident."""

    code: Annotated[str, _code(CAUSES)]
    params: Annotated[dict[str, Any], _params(CAUSES)]


_TIMELINE: Final = Phrases(TIMELINE, RECOVERY)


class QuietSentence(Answer):
    """A sentence about a quiet time."""

    code: Annotated[str, _code(QUIET_WORDS)]
    params: Annotated[dict[str, Any], _params(QUIET_WORDS)]


class RefusedSentence(Answer):
    """How many messages were refused, and why."""

    code: Annotated[str, _code(REFUSALS)]
    params: Annotated[dict[str, Any], _params(REFUSALS)]


class OutcomeSentence(Answer):
    """Who cancelled or ended a command."""

    code: Annotated[str, _code(ENDINGS)]
    params: Annotated[dict[str, Any], _params(ENDINGS)]


class BatchSentence(Answer):
    """Why a batch is paused or aborted, or that members wait."""

    code: Annotated[str, _code(BATCHES)]
    params: Annotated[dict[str, Any], _params(BATCHES)]


class ScheduleSentence(Answer):
    """The state of a schedule, or why its batch waits."""

    code: Annotated[str, _code(SCHEDULES)]
    params: Annotated[dict[str, Any], _params(SCHEDULES)]


DELIVERIES: Final = Phrases(UNSENT, COURIERS)


class DeliverySentence(Answer):
    """What a try to send a message came to, or why it was not sent."""

    code: Annotated[str, _code(DELIVERIES)]
    params: Annotated[dict[str, Any], _params(DELIVERIES)]


class TimelineSentence(Answer):
    """An event of an incident, its cause, or why recovery acts or does not."""

    code: Annotated[str, _code(_TIMELINE)]
    params: Annotated[dict[str, Any], _params(_TIMELINE)]


_EVENTS: Final = Phrases(HISTORY, RECOVERY)


class EventSentence(Answer):
    """An event of a client, the cause of its state, or why recovery acts or does not."""

    code: Annotated[str, _code(_EVENTS)]
    params: Annotated[dict[str, Any], _params(_EVENTS)]


class Refusal(Answer):
    """Why a request was refused."""

    code: Annotated[str, _code(errors.REFUSALS)]
    params: Annotated[dict[str, Any], _params(errors.REFUSALS)]


def stored(phrases: Phrases, english: str | None, coded: Sequence[Coded] | None) -> Sequence[Coded] | None:
    """The codes of a text that was stored; None if there is no text, or they do not make its English."""
    return None if english is None else phrases.stored(english, coded).coded
