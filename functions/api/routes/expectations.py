"""/api/expectations: what should be on the screens of displays, tags and sites."""

from typing import Annotated

import msgspec

from functions.api.bodies import Answer, Body, answer_of
from functions.api.folding import NAME
from functions.api.routing import Bound, Call, Routes
from shared.errors import ExpectationNotFound
from shared.expectations import rules, store
from shared.expectations.rules import Expectation
from shared.vocabulary import ExpectationScope, Role
from shared.words.sentences import Sentence

routes = Routes("expectations", "/api/expectations", "What should be on the screens.")

Pattern = Annotated[str, msgspec.Meta(min_length=1, max_length=512, description="`*` stands for any text")]


class WantedPage(Body, kw_only=True):
    """What should be on the screens of a display (`target` is its uuid), of a tag or of a site.

    `address` and `title` of the page; null: any. `black`: a black screen is meant, and no failure.
    """

    scope: ExpectationScope
    target: Annotated[str, msgspec.Meta(min_length=1, max_length=100, extra=NAME)]
    address: Pattern | None = None
    title: Pattern | None = None
    black: bool = False


class SavedExpectation(Expectation, frozen=True, kw_only=True):
    """An expectation, and how many of the pages seen now it matches, in words."""

    words: Sentence


class Expectations(Answer):
    """What is expected: for a display that of its own counts, then that of a tag, then that of its site."""

    items: list[Expectation]


@routes.get("", role=Role.VIEWER, bound=Bound.LISTS)
def list_expectations(call: Call) -> Expectations:
    """What should be on the screens, at most 1,000."""
    with call.transaction() as (connection, _):
        return Expectations(items=store.every(connection))


@routes.put("", role=Role.OPERATOR, bound=Bound.LISTS)
def expect_page(call: Call, body: WantedPage) -> SavedExpectation:
    """Expect this there, instead of what was expected. A screen with another page fails after two health reports.

    Whoever may act at chosen sites alone may name these sites and their displays, and no tags.
    """
    with call.transaction() as (connection, now):
        saved = store.put(connection, now, **msgspec.structs.asdict(body), by=call.principal.actor)
        facts = {"address": saved.address, "title": saved.title, "black": saved.black}
        call.audit(connection, now, "expectation.write", f"{saved.scope}:{saved.target}", **facts)
        right = [rules.is_right(page, saved) for page in store.seen(connection, now, saved.id)]
    any_page = not f"{saved.address or ''}{saved.title or ''}".strip("*")
    words = rules.pages_expected(matching=sum(map(bool, right)), seen=len(right), any_page=any_page)
    return answer_of(SavedExpectation, saved, words=words)


@routes.delete(
    "/<id:expectation_id>",
    role=Role.OPERATOR,
    bound=Bound.LISTS,
    statuses={204: "Expected no more"},
    raises=(ExpectationNotFound,),
)
def expect_nothing(call: Call, expectation_id: int) -> None:
    """Expect nothing there any more."""
    with call.transaction() as (connection, now):
        was = store.delete(connection, expectation_id)
        if was is None:
            raise ExpectationNotFound
        call.audit(connection, now, "expectation.delete", f"{was.scope}:{was.target}")
