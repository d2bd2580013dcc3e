"""Refusals: each error says sentences of its own, with their facts, in the language of the reader."""

import ast
from collections.abc import Iterator
from typing import Final

import pytest

from deploy.parts.layout import REPOSITORY
from functions import problems
from functions.api import routes
from functions.api.fields import field_list, field_text, field_whole_number
from shared import errors
from shared.errors import ConfigurationError, ForOperators, ServiceError, usual_code
from shared.words.reader import words_of
from shared.words.sentences import DECLARED, Sentence, as_given
from tests.rules.core_files import CORE, facts

MEMBERS: Final = {"type", "title", "status", "detail", "detail_code", "code", "request_id"}


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


def test_every_error_that_the_api_may_raise_is_for_people() -> None:
    raised = {error for blueprint in routes.ALL for endpoint in blueprint.endpoints for error in endpoint.raises}

    assert len(raised) > 50
    assert {error for error in raised if not error.is_for_people} == set()
    assert {usual_code(error) for error in raised} <= DECLARED.keys()


def test_errors_say_sentences_of_their_own_with_all_facts() -> None:
    wrong = []
    for place, error, call, method in MADE:
        own = {usual_code(error), *(code for kind in error.__mro__ for code in vars(kind).get("says", {}))}
        for code in [one or usual_code(error) for one in said(call, method)]:
            if code not in own:
                wrong.append(f"{place}: {code} is no sentence of {error.__name__}")
            elif not DECLARED[code].keys() <= given(call):
                wrong.append(f"{place}: a fact of {code} is missing")

    assert len(MADE) > 120
    assert wrong == []


def test_an_error_that_is_made_without_arguments_has_no_facts() -> None:
    with_facts = {name for name, error in ERRORS.items() if error.is_for_people and DECLARED[usual_code(error)]}
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


@pytest.mark.parametrize(
    ("language", "title", "detail"),
    [
        ("en", "Too large", "A file may have 2,048 bytes at most."),
        ("de", "Zu groß", "Eine Datei darf höchstens 2.048 Bytes haben."),
        ("ja", "大きすぎます", "ファイルは2,048バイトまでです。"),
    ],
)
def test_a_document_is_in_the_readers_language_its_codes_are_not(language: str, title: str, detail: str) -> None:
    error = errors.UploadTooLarge("file_too_large", limit_bytes=2048)
    document = problems.document(error, "a" * 32, words_of(language))

    assert (document["title"], document["detail"]) == (title, detail)
    assert (document["code"], document["detail_code"], document["limit_bytes"]) == ("too_large", "file_too_large", 2048)


@pytest.mark.parametrize(
    ("why", "texts"),
    [
        (field_list(least=1, most=None), ("of at least 1 item.", "mit mindestens 1 Eintrag.", "1 件以上の一覧を")),
        (field_list(least=None, most=9), ("of at most 9 items.", "mit höchstens 9 Einträgen.", "9 件以下の一覧を")),
        (field_text(least=1, most=9), ("of 1 to 9 characters.", "von 1 bis 9 Zeichen.", "1～9 文字のテキスト")),
        (field_whole_number(least=0, most=1), ("from 0 to 1.", "von 0 bis 1.", "0～1 の整数を")),
        (field_whole_number(least=None, most=None), ("a whole number.", "eine ganze Zahl.", "x: 整数を")),
    ],
)
def test_a_field_says_its_limits_in_each_language(why: Sentence, texts: tuple[str, ...]) -> None:
    error = problems.InvalidField.at("x", why)

    for language, part in zip(("en", "de", "ja"), texts, strict=True):
        assert part in words_of(language).say(error.sentence)


def test_an_error_for_operators_says_what_it_was_given() -> None:
    assert str(ConfigurationError("PORT is not set.")) == "PORT is not set."
    assert problems.BadJob().sentence == as_given(text="This is no job of this function.")
    assert problems.status_of(problems.BadJob) == 400


def test_japanese_calls_a_recovery_code_by_the_name_of_the_page() -> None:
    page = (REPOSITORY / "dashboard/lib/words/ja/second_factor.js").read_text(encoding="utf-8")

    assert "回復コード" in page
    assert "回復コード" in words_of("ja").say(errors.SecondFactorRequired().sentence)
