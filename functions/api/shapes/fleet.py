"""The answers about the breakers."""

from functions.api.bodies import Answer
from functions.api.shapes.sentences import BreakerSentence


class Breaker(Answer):
    """Whether a breaker stops recovery because too many displays went silent at once, and at which sites.

    A site that is null stands for the whole fleet. `why_sentences` says the same as `why` in codes; null: older code
    wrote it.
    """

    open: bool
    why: str | None
    why_sentences: list[BreakerSentence] | None
    sites: list[str | None]
