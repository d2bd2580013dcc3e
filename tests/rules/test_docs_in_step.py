"""The documents agree with the code."""

import re
from collections import Counter
from pathlib import Path

from deploy.parts.broker_rights import SERVICES
from deploy.parts.identity import key_path
from deploy.parts.layout import GATEWAY_KEY, SCRIPTS_KEY, SIGN_IN
from shared.config import SETTINGS
from tests.rules.test_promises import MET, NOT_MET, PROMISES

ROOT = Path(__file__).parents[2]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
MOST_WORDS = 24_500  # a newcomer can read all of it in two hours
MOST_DECISIONS = 18


def test_the_documents_stay_short_enough_to_be_read() -> None:
    """A word has a letter or a digit."""
    words = sum(len(re.findall(r"\S*\w\S*", path.read_text(encoding="utf-8"))) for path in DOCUMENTS)
    decisions = [path for path in DOCUMENTS if path.parent.name == "decisions" and path.name != "README.md"]

    assert len(DOCUMENTS) >= 15
    assert words <= MOST_WORDS
    assert len(decisions) <= MOST_DECISIONS


def settings_list() -> list[str]:
    """The lines that docs/reference.md must have, one for each setting."""
    said = {s.name: f" ({f'`{s.default}` {s.unit}'.strip()})" for s in SETTINGS if s.default not in (None, "")}
    return [f"- `{s.name}`{said.get(s.name, '')}: {s.meaning}" for s in SETTINGS]


def test_every_setting_stands_in_the_reference_as_the_code_has_it() -> None:
    """Those that people change with default and meaning, the others by name."""
    text = (ROOT / "docs" / "reference.md").read_text(encoding="utf-8")
    told = text.split("<!-- settings:")[1].split("<!-- /settings -->")[0]
    usual, others = told.split("The way to deploy sets the others")
    lines = [line for line in usual.splitlines() if line.startswith("- `")]

    assert [line for line in settings_list() if line in lines] == lines
    assert len(lines) == 30
    assert re.findall(r"`([A-Z_]+)`", others) == [s.name for s in SETTINGS if f"- `{s.name}`" not in usual]


def test_how_each_secret_is_rotated_is_said() -> None:
    """Every secret of the settings, and every one that is generated on one machine."""
    sources = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "deploy").rglob("*.py"))
    made = set(re.findall(r'layout\.secret\("(\w+)"\)', sources))
    named = {SIGN_IN, SCRIPTS_KEY, GATEWAY_KEY, key_path({}).name}
    named |= {f"mqtt_{user}_password" for user in SERVICES} | {setting.name for setting in SETTINGS if setting.secret}
    assert {"database_password", "signing_key"} <= made

    text = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")
    told = text.split("## Rotating each secret")[1].split("\n## ")[0]

    assert {name for name in made | named if f"`{name}`" not in told} == set()


def test_every_event_that_the_guide_tells_people_to_search_for_is_written() -> None:
    told = (ROOT / "docs" / "reference.md").read_text(encoding="utf-8").split("| event | written by | tells |")[1]
    rows = [line for line in told.split("\n\n")[0].splitlines() if line.startswith("| `")]
    named = {name for row in rows for name in re.findall(r"`(\w+)`", row.split("|")[1])}
    folders = ("shared", "extensions", "functions", "bridge", "deploy/parts", "deploy/local")
    code = "".join(path.read_text(encoding="utf-8") for folder in folders for path in (ROOT / folder).rglob("*.py"))

    assert len(named) >= 11
    assert {name for name in named if f'"{name}"' not in code} == set()


def test_every_link_between_documents_leads_somewhere() -> None:
    for document in DOCUMENTS:
        for target in re.findall(r"\]\((?!https?:|#|mailto:)([^)#]+)", document.read_text(encoding="utf-8")):
            assert (document.parent / target).exists(), f"{document.name}: {target}"


def anchors(document: Path) -> set[str]:
    """The targets of links: the document's headings as Markdown viewers write them."""
    headings = re.findall(r"^#+ (.+)$", document.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_every_link_to_a_heading_finds_it() -> None:
    for document in DOCUMENTS:
        for file, anchor in re.findall(r"\]\(([\w./-]*)#([\w-]+)\)", document.read_text(encoding="utf-8")):
            target = document.parent / file if file else document
            assert anchor in anchors(target), f"{document.name}: {file}#{anchor}"


def test_the_rows_of_the_security_standard_are_counted_as_they_are() -> None:
    text = (ROOT / "docs" / "security.md").read_text(encoding="utf-8").split("## OWASP ASVS")[1].split("\n## ")[0]
    words = ("yes", "by setting", "n.a.", "partly", "no")
    marks = Counter(re.findall(rf": ({'|'.join(map(re.escape, words))});", str(PROMISES[NOT_MET])))
    marks["yes"] += len(PROMISES[MET])

    [sentence] = [line for line in text.splitlines() if line.startswith("Of the ")]

    assert [int(number) for number in re.findall(r"\d+", sentence)] == [
        len(PROMISES[MET]) + len(PROMISES[NOT_MET]),
        *(marks[word] for word in words),
    ]


def test_every_file_that_a_document_names_is_there() -> None:
    named = re.compile(r"`((?:bridge|dashboard|deploy|docs|functions|migrations|shared|tests)/[\w./-]*)`")
    for document in DOCUMENTS:
        for target in named.findall(document.read_text(encoding="utf-8")):
            assert (ROOT / target).exists(), f"{document.name}: {target}"


def test_every_decision_has_a_number_of_its_own_and_says_what_was_decided() -> None:
    decisions = sorted((ROOT / "docs" / "decisions").glob("[!R]*.md"))
    numbers = [path.name[:4] for path in decisions]

    assert len(numbers) == len(set(numbers))  # an outdated decision is deleted, and its number is not used again
    for path in decisions:
        assert re.match(rf"# {int(path.name[:4])}\. ", path.read_text(encoding="utf-8")), path.name


def test_no_document_or_source_names_a_path_of_some_machine() -> None:
    for pattern in ("*.md", "docs/**/*.md", "Makefile", ".ci/run"):
        for path in ROOT.glob(pattern):
            assert not re.search(r"/(root|home)/\w+", path.read_text(encoding="utf-8")), path
