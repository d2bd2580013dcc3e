"""Sentences for people as codes and facts, beside their English.

Each shape names the codes of one noun and the facts of each code. While versions change, a newer code may come too.
"""

from collections.abc import Sequence

import msgspec

from shared.sentences import Coded, Phrases


def codes_of(phrases: Phrases) -> msgspec.Meta:
    """The codes that a field holds."""
    return msgspec.Meta(extra_json_schema={"enum": phrases.codes})


def facts_of(phrases: Phrases) -> msgspec.Meta:
    """The facts that a field holds, by code."""
    facts = "; ".join(f"{code}: {', '.join(names) or 'none'}" for code, names in phrases.params.items())
    return msgspec.Meta(description=f"by code: {facts}")


def stored(phrases: Phrases, english: str | None, coded: Sequence[Coded] | None) -> Sequence[Coded] | None:
    """The codes of a text that was stored; None if there is no text, or they do not make its English."""
    return None if english is None else phrases.stored(english, coded).coded
