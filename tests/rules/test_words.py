"""Sentences in three languages: the catalogues, their compiled tables, and what the server says with them."""

import ast
import importlib
import json
import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final, get_args

import msgspec
import pytest

import functions.api.routes  # noqa: F401 - imports every noun, so that all sentences are declared
from extensions.batches.rules import too_many_unproven
from extensions.batches.schedules_rules import schedule_next
from extensions.history.rules import command_over
from shared.clients.signs_rules import why_mute
from shared.commands.rules import OutcomeCause
from shared.incidents.causes_rules import fleet_not_heard, most_at
from shared.postgres.many import as_json
from shared.recovery.breakers.words_rules import breaker_closing, breaker_open, breaker_released, more_sites_held
from shared.recovery.words_rules import all_refused
from shared.typed import convert, decode
from shared.vocabulary import CommandAction, CommandState, IncidentKind
from shared.words import facts as kinds
from shared.words.compiler.parse import Choice, Message, Pattern, Refused, facts_of, parse
from shared.words.compiler.tables import catalogue, table, text
from shared.words.facts import in_zone
from shared.words.languages import ENGLISH, LANGUAGES, Language
from shared.words.reader import COMPILED, Catalogue, english, words_of
from shared.words.sentences import DECLARED, Sentence, as_given, declare, in_turn, together
from tests.rules.core_files import CORE

for name, path in CORE.items():  # so that all sentences are declared
    if "@sentence\n" in path.read_text(encoding="utf-8"):
        importlib.import_module(name)

CATALOGUES: Final = {language: catalogue(language) for language in LANGUAGES}
SAID: Final = {"detail", "why", "title", "words"}
"""Names of what people read."""
SAMPLES: Final = {kinds.lasting: 60, kinds.actor: "user:anna", kinds.moment: "2026-11-29T09:00:00+01:00[Europe/Berlin]"}


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_tables_are_as_compiled(language: str) -> None:
    assert (COMPILED / f"{language}.json").read_text(encoding="utf-8") == text(language), "run make words"


def test_every_sentence_has_words() -> None:
    assert DECLARED.keys() - CATALOGUES[ENGLISH].keys() == set()


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_text_names_only_facts_of_its_sentence(language: str) -> None:
    messages = {name: message for name, message in CATALOGUES[language].items() if name in DECLARED}
    unknown = {name: facts_of(name, CATALOGUES[language]).keys() - given(name) for name in messages}

    assert messages or not CATALOGUES[language]
    assert {name: facts for name, facts in unknown.items() if facts} == {}


def given(code: str) -> set[str]:
    """The facts that a catalogue gets of a sentence."""
    found: set[str] = set()
    for name, hint in DECLARED[code].items():
        found |= {name, f"{name}_is", f"{name}_n"}
        for divide in (kind for each in (hint, *get_args(hint)) for kind in getattr(each, "__metadata__", ())):
            found |= divide(name, SAMPLES[divide]).keys()
    return found


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_choice_is_made_on_what_people_write(language: str) -> None:
    """A shop may be called `none`: `site_is` is chosen on, `site` is not."""
    of_people = {
        name: {fact for fact, hint in DECLARED[name].items() if str in (hint, *get_args(hint))}
        for name in CATALOGUES[language].keys() & DECLARED.keys()
    }

    assert of_people or not CATALOGUES[language]
    for name, facts in of_people.items():
        assert {choice.fact for choice in choices(name, CATALOGUES[language])} & facts == set(), name


def choices(name: str, messages: dict[str, Message]) -> Iterator[Choice]:
    """The choices of a message and its pieces."""

    def within(pattern: Pattern) -> Iterator[Choice]:
        for part in pattern:
            if isinstance(part, Choice):
                yield part
                for variant in part.variants.values():
                    yield from within(variant)

    yield from within(messages[name].pattern)
    for piece in messages[name].pieces:
        yield from choices(piece, messages)


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_piece_is_put_in_somewhere(language: str) -> None:
    messages = CATALOGUES[language]

    assert messages.keys() - DECLARED.keys() - {piece for each in messages.values() for piece in each.pieces} == set()


@pytest.mark.parametrize(
    ("spoilt", "line", "why"),
    [
        ("a = b\n\nc = { $x ->\n    [one] d\n}\n", 5, "Expected one of the variants to be marked as default"),
        ("a = b\n-brand = c\n", 2, "no term"),
        ("a = b\n    .title = c\n", 1, "no attribute"),
        ("a = b\n    c\n", 1, "one line"),
        ("a = { NUMBER($n, useGrouping: 0) }\n", 1, "only { $fact }"),
        ('a = { DATETIME("x") }\n', 1, "only { $fact }"),
        ("a = b\na = c\n", 2, "a second message a"),
        ("a = { $n ->\n    [one] b\n    [one] c\n   *[other] d\n}\n", 1, "the same key"),
    ],
)
def test_what_lies_outside_the_language_is_refused_by_line(tmp_path: Path, spoilt: str, line: int, why: str) -> None:
    path = tmp_path / "spoilt.ftl"
    path.write_text(spoilt, encoding="utf-8")

    with pytest.raises(Refused, match=f"spoilt.ftl:{line}: .*{why}".replace("{ $", r"\{ \$")):
        parse(path)


def test_what_english_lacks_is_refused(tmp_path: Path) -> None:
    (tmp_path / "en").mkdir()
    (tmp_path / "en" / "noun.ftl").write_text("a = b\nc = { d }\n", encoding="utf-8")

    with pytest.raises(Refused, match="2: c puts in a message that is not there"):
        text("en", tmp_path)


def messages_in(tmp_path: Path, name: str, written: str) -> dict[str, Message]:
    path = tmp_path / f"{name}.ftl"
    path.write_text(written, encoding="utf-8")
    return parse(path)


def test_what_a_language_lacks_is_a_whole_english_sentence(tmp_path: Path) -> None:
    own = messages_in(tmp_path, "own", "says = { who } sagt { what }\nwho = Jemand\nsings = { who } singt\n")
    pieces = "who = Somebody\nwhat = it\n"
    theirs = "says = { who } says { what }\nsings = { who } sings\nhums = { who } hums\n" + pieces
    words = Catalogue("de", table(own, messages_in(tmp_path, "english", theirs)))

    said = [words.say(Sentence(code, {})) for code in ("says", "sings", "hums")]

    assert said == ["Somebody says it", "Jemand singt", "Somebody hums"]


@pytest.mark.parametrize(
    ("said", "texts"),
    [
        (
            breaker_released(site=None, by=None),
            (
                "The breaker of the fleet was released by somebody; silence from before no longer counts.",
                "Die Sicherung der Flotte wurde von jemandem freigegeben; was vorher verstummt ist, zählt nicht mehr.",
                "誰かがフリートのブレーカーを解除しました。それ以前の無応答は数えません。",
            ),
        ),
        (
            breaker_released(site="none", by="token:ci#54bdd99d"),
            (
                "The breaker of none was released by ci; silence from before no longer counts.",
                "Die Sicherung von none wurde von ci freigegeben; was vorher verstummt ist, zählt nicht mehr.",
                "ci が拠点 none のブレーカーを解除しました。それ以前の無応答は数えません。",
            ),
        ),
        (more_sites_held(sites=1200), ("1,200 more sites", "1.200 weitere Standorte", "ほか1,200拠点")),
        (more_sites_held(sites=1), ("1 more site is", "1 weiterer Standort wird", "ほか1拠点")),
        (breaker_closing(site="{ $x }", seconds=45), ("lasted 45 seconds,", "seit 45 Sekunden so", "45秒続く")),
        (breaker_closing(site="{ $x }", seconds=7200), ("at { $x } were", "am Standort { $x } zu", "拠点 { $x } で")),
        (
            in_turn(sentences=[as_given(text="So."), more_sites_held(sites=2)]),
            ("So. 2 more sites", "So. 2 weitere", "So.ほか2拠点"),
        ),
        (
            most_at(kind=IncidentKind.SITE, key="Kiel", members=2, size=2, whole=True, among=True),
            (", among them all 2 of Kiel", ", darunter alle 2 am Standort Kiel", "。うち拠点 Kiel の全2台です"),
        ),
        (
            fleet_not_heard(at="2026-03-01T12:00:00+00:00[UTC]"),
            (
                "since Sunday 1 March 2026, 12:00 UTC.",
                "seit Sonntag, 1. März 2026 um",
                "2026年3月1日日曜日 12:00（UTC）から",
            ),
        ),
        (
            schedule_next(at="2026-11-28T21:05:00-05:00[America/New_York]"),
            (
                "Next: Saturday 28 November 2026, 21:05 America/New_York.",
                "Als Nächstes: Samstag, 28. November 2026 um 21:05 Uhr (America/New_York).",
                "次回: 2026年11月28日土曜日 21:05（America/New_York）。",
            ),
        ),
        (
            too_many_unproven(unproven=1, sent=10, excused=0, limit=5, share=True, waiting=1),
            ("more than 5%; 1 was not", "1 von 10 Befehlen endete ohne Nachweis, mehr als 5\u00a0%; 1 wurde", "5% を"),
        ),
        (
            command_over(
                action=CommandAction.REBOOT_HOST,
                state=CommandState.EXPIRED,
                cause=OutcomeCause("no_ack"),
                why=None,
                confirmed_by=None,
            ),
            (
                "Reboot expired: The display did not acknowledge it in time",
                "Neustart: verfallen (Das Display hat ihn nicht rechtzeitig bestätigt)",
                "再起動: 期限切れ（ディスプレイが時間内に受領を返しませんでした）",
            ),
        ),
        (
            all_refused(restarts=1, reboots=0, reason="", elsewhere=True),
            (
                "1 restart was refused by the display (its boot was another one",
                "Das Display hat 1 Player-Neustart abgelehnt (sein Start ist ein anderer",
                "ディスプレイがプレーヤー再起動1回を拒否しました（最後に保存されたハートビートとは別の起動）。",
            ),
        ),
        (
            why_mute({"not_json": 2, "too_large": 1200, "of_newer_code": 1}),
            (
                ": 1,200 of them were too large, 2 were not JSON, 1 was refused for another reason.",
                ": 1.200 davon waren zu groß, 2 waren kein JSON, 1 wurde aus einem anderen Grund abgelehnt.",
                "拒否の理由: サイズ超過 1,200件、JSON 以外 2件、その他の理由 1件。",
            ),
        ),
        (Sentence("of_newer_code", {}), ("of_newer_code", "of_newer_code", "of_newer_code")),
        (Sentence("as_given", {"newer": 1}), ("…", "…", "…")),
        (Sentence("fleet_not_heard", {"at": 1_796_000_000}), ("fleet_not_heard",) * 3),
        (
            Sentence("screen_fails", {"display": "d", "screen": "newer"}),
            ("its screen fails", "Der Bildschirm ist gestört", "画面が異常です"),
        ),
        (Sentence("no_heartbeat_for", {"seconds": "newer"}), ("no_heartbeat_for",) * 3),
        (Sentence("is_on_it", {"by": {"person": "anna"}}), ("is_on_it",) * 3),  # type: ignore[dict-item]  # newer code
    ],
)
def test_a_sentence_is_said_in_each_language(said: Sentence, texts: tuple[str, ...]) -> None:
    for language, part in zip(("en", "de", "ja"), texts, strict=True):
        assert part in words_of(language).say(said)


def test_a_language_that_only_newer_code_has_is_english() -> None:
    assert words_of("newer").say(Sentence("never_heard", {})) == words_of(ENGLISH).say(Sentence("never_heard", {}))


def test_a_time_is_said_in_its_zone() -> None:
    at = datetime(2026, 3, 1, 23, 30, tzinfo=UTC)

    assert kinds.moment("at", in_zone(at, "Asia/Tokyo")) == {
        "at_weekday": 1,
        "at_day": 2,
        "at_month": 3,
        "at_year": 2026,
        "at_clock": "08:30",
        "at_zone": "Asia/Tokyo",
    }
    assert kinds.moment("at", None) == kinds.lasting("seconds", None) == {}


def test_what_is_said_alike_is_alike() -> None:
    spans = (119, 121, 179, 7199, 7201, 180_000)
    rounded = [kinds.rounded(timedelta(seconds=span)) for span in spans]

    assert rounded == [119, 120, 120, 7140, 7200, 172_800]
    assert [kinds.lasting("x", span) for span in spans] == [kinds.lasting("x", span) for span in rounded]


def test_numbers_that_are_names_have_no_thousands_and_a_word_may_begin_small(tmp_path: Path) -> None:
    own = messages_in(
        tmp_path, "own", "a = { NUMBER($id) } of { $n }: { SMALL($w) }, { $on }, { $parts }, { $parts_n }\n"
    )
    said = Sentence("a", {"id": 8883, "n": 8883, "w": "Äpfel", "on": True, "parts": ["x", "y"]})

    assert Catalogue("de", table(own, own)).say(said) == "8883 of 8.883: äpfel, yes, x, y, 2"


def test_plurals_and_thousands_are_those_of_node() -> None:
    script = """const [languages, numbers] = JSON.parse(process.argv[1]);
        const of = ([tag, page]) => {
          const onPage = new Function("n", `return ${page}`);
          const [rules, format] = [new Intl.PluralRules(tag), new Intl.NumberFormat(tag)];
          return numbers.map((n) => (n > 1000 ? [format.format(n)] : [rules.select(n), onPage(n)]));
        };
        console.log(JSON.stringify(languages.map(of)));"""
    numbers = [*range(1001), 12_345, 1_000_000]
    pages = [[tag, on_page(language)] for tag, language in LANGUAGES.items()]
    asked = ["node", "-e", script, json.dumps([pages, numbers])]
    told = json.loads(subprocess.run(asked, check=True, capture_output=True, text=True).stdout)

    for (tag, rules), of_node in zip(LANGUAGES.items(), told, strict=True):
        said = [[f"{n:,}".replace(",", rules.thousands)] if n > 1000 else [rules.plural(n)] * 2 for n in numbers]
        assert said == of_node, tag


def on_page(language: Language) -> str:
    """The plural form of `n` in JavaScript, by the page's conditions."""
    forms = (f'{condition.format("n")} ? "{form}" : ' for form, (_, condition) in language.forms.items())
    return "".join(forms) + '"other"'


# --- a sentence as a value ---


def test_a_sentence_is_one_value_in_a_row_with_the_sentences_in_it() -> None:
    said = together([breaker_open(site=None, stale=1, seen=2, percent=20), as_given(text="So.")])
    stored = as_json(said)

    assert stored is not None
    assert decode(stored, Sentence) == said
    assert convert(json.loads(stored), Sentence) == said
    assert convert(said, Sentence) is said
    assert together([as_given(text="So.")]) == as_given(text="So.")
    assert len({said, decode(stored, Sentence)}) == 1
    assert repr(as_given(text="So.")) == "as_given(text='So.')"


@pytest.mark.parametrize("other", ["So.", {"code": "as_given"}, {"code": "as_given", "facts": None}, 3])
def test_what_is_no_sentence_is_not_read_as_one(other: Any) -> None:
    with pytest.raises(msgspec.ValidationError, match="expected a sentence"):
        convert(other, Sentence)


def test_two_sentences_do_not_share_a_code() -> None:
    with pytest.raises(TypeError, match="two sentences have the code as_given"):
        declare("as_given", {})


def test_english_is_for_who_named_no_language() -> None:
    assert english(more_sites_held(sites=2)) == "2 more sites are held back as well."


# --- no sentence stands in a program ---

FOR_OPERATORS: Final = {"bridge.granted", "bridge.loop", "functions.api.readiness"}
"""What /readyz answers is English, as log lines are: programs match on it."""
LOG: Final = {"event", "failure"}


def test_no_sentence_for_people_stands_in_a_program() -> None:
    told = {name for name, path in CORE.items() if any(sentences_in(ast.parse(path.read_text(encoding="utf-8"))))}

    assert told == FOR_OPERATORS


def sentences_in(tree: ast.AST) -> Iterator[str]:
    """The texts of more than three words that a name of SAID gets.

    A variable that only log lines name is none of these.
    """
    logged = set(only_logged(tree))
    for node in ast.walk(tree):
        if isinstance(node, ast.keyword) and node.arg in SAID:
            yield from long(node.value)
        elif isinstance(node, ast.Assign | ast.AnnAssign) and node.value:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names = [name_of(target) for target in targets if isinstance(target, ast.Name | ast.Attribute)]
            if node not in logged and not SAID.isdisjoint(names):
                yield from long(node.value)
        elif isinstance(node, ast.Dict):
            for key, value in zip(node.keys, node.values, strict=True):
                if isinstance(key, ast.Constant) and key.value in SAID:
                    yield from long(value)


def only_logged(tree: ast.AST) -> Iterator[ast.AST]:
    """The assignments to a variable that its function gives to LOG alone."""
    for function in [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]:
        within = list(ast.walk(function))
        calls = [node for node in within if isinstance(node, ast.Call) and ast.unparse(node.func) in LOG]
        logged = {name for call in calls for name in ast.walk(call)}
        used = [node for node in within if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)]
        alone = {name.id for name in used if name in logged} - {name.id for name in used if name not in logged}
        yield from (node for node in within if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) in alone)


def name_of(target: ast.Name | ast.Attribute) -> str:
    return target.id if isinstance(target, ast.Name) else target.attr


def long(value: ast.expr) -> Iterator[str]:
    """The texts of more than three words in an expression, but not in what a call gets."""
    if isinstance(value, ast.Call):
        return
    parts = value.values if isinstance(value, ast.JoinedStr) else [value]
    text = "".join(str(part.value) if isinstance(part, ast.Constant) else "x" for part in parts)
    if len(text.split()) > 3:
        yield text
    for part in ast.iter_child_nodes(value):
        if isinstance(part, ast.expr):
            yield from long(part)


@pytest.mark.parametrize(
    "planted",
    [
        'Verdict(why="The display is silent now.")',
        'state.why = f"The display {name} is silent."',
        'title: str = "Recovery holds back" if x else "Somebody did that to it"',
        'answer = {"detail": "The upload was cut off."}',
        'def f(): why = "The display is silent now."; event(why); return why',
    ],
)
def test_a_sentence_in_a_program_is_seen(planted: str) -> None:
    assert list(sentences_in(ast.parse(planted)))
