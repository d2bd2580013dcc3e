"""What the forge and editors read: the workflows, the issue forms, .editorconfig. `make check` knows the schemas."""

import configparser
import json
import re
import tomllib
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from deploy.parts.layout import REPOSITORY
from tests.lab.campaigns.guides import block

FORGE: Final = REPOSITORY / ".github"
TEMPLATES: Final = FORGE / "ISSUE_TEMPLATE"
WORKFLOWS: Final = sorted((FORGE / "workflows").iterdir())
CI: Final = FORGE / "workflows" / "ci.yml"
RELEASE: Final = FORGE / "workflows" / "release.yml"
FORMS: Final = sorted(path for path in TEMPLATES.iterdir() if path.name != "config.yml")
ASKED: Final = {
    "bug.yml": {"version", "mode", "steps", "expected", "seen", "log"},
    "display-client.yml": {"protocol", "version", "client", "mode", "conformance", "expected", "seen"},
    "feature.yml": {"job", "today", "done", "version", "mode"},
}
ACTION: Final = re.compile(r"[\w-]+/[\w./-]+@[0-9a-f]{40}")
LINK: Final = re.compile(r"\]\(([^)]+)\)")
FORMATTED: Final = "{dashboard,displays/browser}/**.{css,html,js,json,ts}"  # as `npm run check` names them


def read(path: Path) -> dict[str, Any]:
    """A YAML file with all values as text: otherwise the key `on` is read as true."""
    found = yaml.load(path.read_text(encoding="utf-8"), yaml.BaseLoader)  # makes nothing but text
    assert isinstance(found, dict)
    return found


def steps(*workflows: Path) -> list[dict[str, Any]]:
    """The steps of these workflows, or of all; a job that calls another workflow has none."""
    chosen = [job for path in workflows or WORKFLOWS for job in read(path)["jobs"].values()]
    return [step for job in chosen for step in job.get("steps", ())]


def fields(form: Path) -> list[dict[str, Any]]:
    """What the form asks for, without the texts between."""
    return [one for one in read(form)["body"] if one["type"] != "markdown"]


def test_the_same_command_runs_on_both_debians() -> None:
    [job] = read(CI)["jobs"].values()

    assert job["strategy"]["matrix"] == {"debian": ["12", "13"]}
    assert job["strategy"]["fail-fast"] == "false"  # each one's verdict is worth having
    assert job["container"]["image"] == "debian:${{ matrix.debian }}"
    assert [step["run"] for step in job["steps"] if "run" in step][-1] == ".ci/run"
    assert (REPOSITORY / ".ci" / "run").stat().st_mode & 0o111


def test_the_history_is_there_and_git_may_read_it() -> None:
    """An archive without history skips tests; a folder of another user is closed to git."""
    named = [str(step.get("run") or step["uses"]) for step in steps(CI)]
    checkouts = [step for step in steps() if step.get("uses", "").startswith("actions/checkout@")]
    place = named.index(checkouts[0]["uses"])

    assert [one["with"] for one in checkouts] == [{"fetch-depth": "0", "persist-credentials": "false"}] * 2
    assert any("apt-get install" in text and "git" in text.split() for text in named[:place])
    assert any("safe.directory" in text for text in named[place + 1 :])


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_may_read_the_code_and_nothing_else_and_has_no_secret(path: Path) -> None:
    workflow = read(path)
    with_more = {name for name, job in workflow["jobs"].items() if "permissions" in job}

    assert workflow["permissions"] == {"contents": "read"}
    assert with_more == ({"release"} if path == RELEASE else set())
    assert "secrets." not in path.read_text(encoding="utf-8")
    assert "secrets" not in {key for job in workflow["jobs"].values() for key in job}  # none is handed on


def test_strangers_code_runs_in_ci_alone() -> None:
    """And not by pull_request_target, which would give it our rights."""
    assert set(read(CI)["on"]) == {"push", "pull_request", "workflow_call"}
    assert read(RELEASE)["on"] == {"push": {"tags": ["v*"]}}


def test_a_release_is_tested_then_signed_without_a_key_and_published_whole() -> None:
    jobs = read(RELEASE)["jobs"]
    job = jobs["release"]
    said = [step.get("run", "") for step in job["steps"]]

    assert jobs["test"] == {"uses": "./.github/workflows/ci.yml"}
    assert job["needs"] == "test"
    assert job["permissions"] == {"contents": "write", "packages": "write", "id-token": "write"}
    assert said[-2] == "make release SIGN=cosign IMAGES=push CHECKED=1"
    assert said[-1].startswith("gh release create --verify-tag ")
    assert said[-1].endswith('"$GITHUB_REF_NAME" dist/*/*')
    token = "${{ github.token }}"  # it is there for nothing but the registry and publishing
    assert [step["env"] for step in job["steps"] if "env" in step] == [{"TOKEN": token}, {"GH_TOKEN": token}]
    assert job["steps"][-3]["run"].startswith('echo "$TOKEN" | docker login ')


def test_the_guides_line_for_the_forge_names_what_the_workflow_signs() -> None:
    line = block("deploying.md", "cosign verify-blob").replace("\\\n", " ").split()

    identity = line[line.index("--certificate-identity") + 1]
    assert REPOSITORY / identity.split("OWNER/NAME/")[1].split("@")[0] == RELEASE
    assert identity.endswith("@refs/tags/vVERSION")
    assert line[line.index("--bundle") + 1] == "SHA256SUMS.sigstore.json"


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_ends_in_time_and_only_a_release_outlives_a_later_push(path: Path) -> None:
    workflow = read(path)

    assert workflow["concurrency"]["cancel-in-progress"] == ("false" if path == RELEASE else "true")
    assert "github.ref" in workflow["concurrency"]["group"]
    assert all(0 < int(job["timeout-minutes"]) <= 90 for job in workflow["jobs"].values() if "steps" in job)


def test_others_code_is_named_by_its_commit() -> None:
    """A tag can be moved to other code."""
    used = [step["uses"] for step in steps() if "uses" in step]

    assert used
    assert [name for name in used if not ACTION.fullmatch(name)] == []


def test_no_step_puts_what_strangers_write_into_a_shell() -> None:
    """The forge fills ${{ … }} before the shell reads it: the name of a branch would be run."""
    assert [step["run"] for step in steps() if "${{" in step.get("run", "")] == []


def test_each_form_asks_for_what_one_needs_to_act() -> None:
    required = {
        form.name: {one["id"] for one in fields(form) if one.get("validations", {}).get("required") == "true"}
        for form in FORMS
    }

    assert required == ASKED


@pytest.mark.parametrize("form", FORMS, ids=lambda path: path.name)
def test_the_forge_takes_the_form(form: Path) -> None:
    """Its own rules, which no schema has: otherwise it shows the form as an error."""
    asked = fields(form)
    ids = [one["id"] for one in asked]
    labels = [one["attributes"]["label"].casefold() for one in asked]
    options = [one["attributes"]["options"] for one in asked if one["type"] == "dropdown"]

    assert asked
    assert len(set(ids)) == len(ids)
    assert len(set(labels)) == len(labels)
    assert all(len(set(some)) == len(some) for some in options)
    assert all(one.casefold() != "none" for some in options for one in some)  # the forge's own word for no choice
    assert read(form)["name"].strip()
    assert read(form)["description"].strip()


def test_the_chooser_can_tell_the_forms_apart() -> None:
    names = [read(form)["name"] for form in FORMS]

    assert len(set(names)) == len(names)
    assert read(TEMPLATES / "config.yml") == {"blank_issues_enabled": "false"}


@pytest.mark.parametrize("form", FORMS, ids=lambda path: path.name)
def test_the_links_of_a_form_lead_to_files(form: Path) -> None:
    """The browser resolves them at OWNER/NAME/issues/new."""
    links = LINK.findall(form.read_text(encoding="utf-8"))

    assert links
    for link in links:
        assert link.startswith("../blob/HEAD/")
        assert (REPOSITORY / link.removeprefix("../blob/HEAD/")).exists(), link


@pytest.mark.parametrize("name", ["bug.yml", "display-client.yml"])
def test_who_reports_a_fault_is_shown_the_private_way_for_a_vulnerability(name: str) -> None:
    first = read(TEMPLATES / name)["body"][0]

    assert first["type"] == "markdown"
    assert "../blob/HEAD/SECURITY.md" in first["attributes"]["value"]


def test_files_that_a_form_or_the_template_names_are_there() -> None:
    for path in (*FORMS, FORGE / "pull_request_template.md"):
        for name in re.findall(r"(?<![\w/])(?:docs/)?[\w-]+\.md", path.read_text(encoding="utf-8")):
            assert (REPOSITORY / name).exists(), f"{path.name}: {name}"


@pytest.fixture(scope="module")
def editors() -> configparser.ConfigParser:
    """.editorconfig; its lines before the first section are in `before`."""
    parser = configparser.ConfigParser(interpolation=None)
    parser.read_string("[before]\n" + (REPOSITORY / ".editorconfig").read_text(encoding="utf-8"))
    return parser


def test_editors_break_lines_of_python_where_ruff_does(editors: configparser.ConfigParser) -> None:
    ruff = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["ruff"]
    shape = ruff.get("format", {})

    assert editors["before"]["root"] == "true"
    assert editors["*.py"].getint("max_line_length") == ruff["line-length"]
    assert editors["*"].getint("indent_size") == ruff.get("indent-width", 4)
    assert editors["*"]["indent_style"] == shape.get("indent-style", "space")


def test_editors_break_lines_of_the_dashboard_where_prettier_does(editors: configparser.ConfigParser) -> None:
    """Prettier reads .editorconfig too, where .prettierrc is silent."""
    prettier = json.loads((REPOSITORY / "dashboard" / ".prettierrc").read_text(encoding="utf-8"))
    indented = next(name for name in editors.sections() if name.startswith("*.{"))

    assert editors[FORMATTED].getint("max_line_length") == prettier["printWidth"]
    assert editors[indented].getint("indent_size") == prettier.get("tabWidth", 2)
    assert {"css", "html", "js", "json", "ts"} <= set(indented[3:-1].split(","))
    assert prettier.get("useTabs", False) is (editors["*"]["indent_style"] == "tab")
    assert editors["*"]["end_of_line"] == prettier.get("endOfLine", "lf")


def test_the_protocol_says_its_version_where_the_form_sends_people() -> None:
    title = (REPOSITORY / "docs" / "protocol.md").read_text(encoding="utf-8").splitlines()[0]

    assert re.search(r"\(version \d+\)$", title)
