"""Whether the service hears the fleet, and whether recovery acts on it."""

from datetime import datetime

from functions.api.bodies import Answer


class Bridge(Answer):
    """Whether the fleet is heard at all."""

    state: str
    silent_since: datetime | None


class Breaker(Answer):
    """Whether recovery holds back because too many displays went silent at once."""

    open: bool
    why: str | None
