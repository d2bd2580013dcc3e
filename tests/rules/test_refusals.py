"""Refusals: each error says sentences that have a code, its facts, and words in each language of the page."""

import ast
import json
from collections.abc import Iterator
from typing import Any, Final

import pytest

from deploy.parts.layout import REPOSITORY
from functions import problems
from functions.api import openapi, routes
from shared import errors
from shared.errors import REFUSALS, ConfigurationError, ForOperators, ServiceError, usual_code
from shared.sentences import Coded
from tests.rules.core_files import CORE, facts

WORDS: Final = REPOSITORY / "dashboard" / "lib" / "words"
CASES: Final[list[dict[str, Any]]] = json.loads(
    (REPOSITORY / "dashboard" / "tests" / "refusals.json").read_text(encoding="utf-8")
)
"""The page's tests read the same cases."""
MEMBERS: Final = {"type", "title", "status", "detail", "detail_sentences", "code", "request_id"}


def subclasses(kind: type[ServiceError]) -> set[type[ServiceError]]:
    return {kind, *(found for child in kind.__subclasses__() for found in subclasses(child))}


ERRORS: Final = {
    error.__name__: error
    for error in subclasses(ServiceError) - {ServiceError}
    if error.__module__.startswith(("shared", "extensions", "functions"))
}


def made() -> Iterator[tuple[str, type[ServiceError], ast.Call, str | None]]:
    """Where errors are made with arguments: the place, the class, the call, and the name of its method."""
    for path in CORE.values():
        for call in facts(path).calls:
            of, method = call.func, None
            if isinstance(of, ast.Attribute) and of.attr == "at":
                of, method = of.value, "at"
            name = of.attr if isinstance(of, ast.Attribute) else of.id if isinstance(of, ast.Name) else ""
            if name in ERRORS and (call.args or call.keywords):
                yield f"{path.relative_to(REPOSITORY)}:{call.lineno}", ERRORS[name], call, method


MADE: Final = [found for found in made() if not issubclass(found[1], ForOperators)]


def said(call: ast.Call, method: str | None) -> list[str | None]:
    """The codes that may be said here; None stands for the usual sentence."""
    args = call.args[1:] if method else call.args
    if not args:
        return [None]
    codes = [args[0].body, args[0].orelse] if isinstance(args[0], ast.IfExp) else [args[0]]
    values = (code.value for code in codes if isinstance(code, ast.Constant))
    return [value for value in values if value is None or isinstance(value, str)]


def given(call: ast.Call) -> set[str]:
    """The names of the facts and extras that are given here."""
    dicts = [one.value for one in call.keywords if one.arg == "facts" and isinstance(one.value, ast.Dict)]
    keys = [key.value for one in dicts for key in one.keys if isinstance(key, ast.Constant)]
    return {str(name) for name in (*keys, *(one.arg for one in call.keywords))}


@pytest.mark.parametrize("language", ["de", "ja"])
def test_every_sentence_of_every_error_has_words(language: str) -> None:
    words = (WORDS / language / "refusals.js").read_text(encoding="utf-8")

    assert [code for code in REFUSALS.codes if f"\n  {code}: (" not in words] == []


def test_every_error_that_the_api_may_raise_is_for_people() -> None:
    raised = {error for blueprint in routes.ALL for endpoint in blueprint.endpoints for error in endpoint.raises}

    assert len(raised) > 50
    assert {error for error in raised if not error.is_for_people} == set()
    assert {usual_code(error) for error in raised} <= set(REFUSALS.codes)


def test_errors_say_sentences_of_their_own_with_all_facts() -> None:
    wrong = []
    for place, error, call, method in MADE:
        own = {usual_code(error), *(code for kind in error.__mro__ for code in vars(kind).get("says", {}))}
        for code in [one or usual_code(error) for one in said(call, method)]:
            if code not in own:
                wrong.append(f"{place}: {code} is no sentence of {error.__name__}")
            elif not set(REFUSALS.params_of(code)) - ({"field"} if method else set()) <= given(call):
                wrong.append(f"{place}: a fact of {code} is missing")

    assert len(MADE) > 120
    assert wrong == []


def test_an_error_that_is_made_without_arguments_has_no_facts() -> None:
    with_facts = {error.__name__ for error in ERRORS.values() if error.is_for_people and "{" in (error.__doc__ or "")}
    bare = [
        f"{path.relative_to(REPOSITORY)}:{line}"
        for path in CORE.values()
        for line, name in facts(path).raised
        if name in with_facts
    ]

    assert with_facts == {"AlreadyTaken", "AuthorityUnreadable"}
    assert bare == []


def test_no_text_is_put_together_where_an_error_is_made() -> None:
    texts = [
        f"{place}: {ast.unparse(one)}"
        for place, _, call, _ in MADE
        for one in call.args
        if isinstance(one, ast.JoinedStr | ast.BinOp) or (isinstance(one, ast.Constant) and " " in str(one.value))
    ]

    assert texts == []


def test_no_field_of_an_error_is_named_like_one_of_every_document() -> None:
    extras = {one.arg for _, _, call, _ in MADE for one in call.keywords}

    assert extras & MEMBERS == set()


@pytest.mark.parametrize("case", CASES, ids=[f"{at} {case['code']}" for at, case in enumerate(CASES)])
def test_the_cases_of_the_page_are_the_english_of_the_server(case: dict[str, Any]) -> None:
    assert REFUSALS.english([Coded(case["code"], case["params"])]) == case["english"]


def test_there_is_a_case_for_every_sentence_with_facts() -> None:
    assert {case["code"] for case in CASES} == {code for code, names in REFUSALS.params.items() if names}


def test_a_document_has_the_sentence_its_facts_and_the_fields_of_the_error() -> None:
    document = problems.document(errors.UploadTooLarge("file_too_large", limit_bytes=2048), "a" * 32)

    assert document["detail"] == "A file may have 2,048 bytes at most."
    assert document["detail_sentences"] == [Coded("file_too_large", {"limit_bytes": 2048})]
    assert (document["code"], document["limit_bytes"]) == ("too_large", 2048)


def test_an_error_for_operators_has_no_code_of_a_sentence() -> None:
    error = ConfigurationError("PORT is not set.")

    assert (error.detail, error.sentence.coded) == ("PORT is not set.", None)
    assert problems.BadJob("No job.").sentence.coded is None
    assert problems.status_of(problems.BadJob) == 400


def test_two_sentences_cannot_have_one_code() -> None:
    with pytest.raises(TypeError, match="two sentences have the code not_found"):
        REFUSALS.template("not_found", "Nothing.")


def test_the_api_lists_every_sentence() -> None:
    listed = openapi.document(list(routes.ALL))["components"]["schemas"]["Refusal"]["properties"]["code"]["enum"]

    assert listed == REFUSALS.codes
