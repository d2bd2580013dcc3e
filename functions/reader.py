"""The reader of an answer: who asked, in the language that Accept-Language prefers."""

import msgspec
from flask import g, has_request_context, request
from werkzeug.wrappers import Request

from shared.words.languages import ENGLISH, LANGUAGES
from shared.words.reader import Catalogue, words_of
from shared.words.sentences import Sentence


def words() -> Catalogue:
    """The words of the reader's language; English outside of a request."""
    if not has_request_context():
        return words_of(ENGLISH)
    if "words" not in g:
        g.words = words_for(request)
    catalogue: Catalogue = g.words
    return catalogue


def words_for(asked: Request) -> Catalogue:
    """The words of the language that this request prefers, of de-AT those of de; else English."""
    wanted = (tag.partition("-")[0].lower() for tag, quality in asked.accept_languages if quality)
    return words_of(next((language for language in wanted if language in LANGUAGES), ENGLISH))


def to_json(value: object) -> bytes:
    """`value` as JSON bytes, times in UTC with Z, sentences in the reader's language."""
    return msgspec.json.encode(value, enc_hook=_say)


def _say(value: object) -> str:
    if isinstance(value, Sentence):
        return words().say(value)
    raise TypeError(f"{type(value).__name__} has no form in JSON")
