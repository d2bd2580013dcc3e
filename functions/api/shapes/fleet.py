"""The answers about the breakers."""

from functions.api.bodies import Answer
from shared.words.sentences import Sentence


class Breaker(Answer):
    """Whether a breaker stops recovery because too many displays went silent at once, and at which sites.

    A site that is null stands for the whole fleet.
    """

    open: bool
    why: Sentence | None
    sites: list[str | None]
