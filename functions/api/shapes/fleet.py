"""The answers about the bridge and the breakers."""

from datetime import datetime

from functions.api.bodies import Answer


class Bridge(Answer):
    """Whether the bridge hears the fleet."""

    state: str
    silent_since: datetime | None


class Breaker(Answer):
    """Whether a breaker stops recovery because too many displays went silent at once, and at which sites.

    A site that is null stands for the whole fleet.
    """

    open: bool
    why: str | None
    sites: list[str | None]
