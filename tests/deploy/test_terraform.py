"""deploy/gcp without an account: it parses, its references are valid, and it gives the code its settings."""

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.deploy.terraform import GCP, Folder, Reference, folders, root


def is_defined(folder: Folder, reference: Reference) -> bool:
    match reference.kind:
        case "var":
            return reference.name in folder.blocks("variable")
        case "local":
            return reference.name in folder.locals
        case "module":
            return reference.name in folder.blocks("module") and _has_output(folder, reference)
        case kind:
            return (reference.type, reference.name) in folder.typed(kind)


def _has_output(folder: Folder, reference: Reference) -> bool:
    source = Folder((folder.path / folder.blocks("module")[reference.name]["source"]).resolve())
    return reference.attribute in {"", *source.blocks("output")}


@pytest.mark.parametrize("folder", folders(), ids=lambda folder: folder.path.name)
def test_every_reference_leads_to_something_that_is_declared(folder: Folder) -> None:
    found = list(folder.references())

    assert [reference for reference in found if not is_defined(folder, reference)] == []
    assert found, "no reference was found: the reader sees nothing"


def test_a_reference_to_nothing_is_seen(tmp_path: Path) -> None:
    (tmp_path / "main.tf").write_text(
        'locals {\n  a = "x-${var.gone}"\n  b = google_storage_bucket.gone.name\n'
        "  c = [for s in module.gone.name : s]\n"
        '  d = data.google_project.gone[0].number\n  e = { K = local.gone }\n  f = "var.not_an_expression"\n}\n'
    )
    folder = Folder(tmp_path)

    assert {(found.kind, found.name) for found in folder.references()} == {
        (kind, "gone") for kind in ("var", "resource", "module", "data", "local")
    }
    assert not any(is_defined(folder, found) for found in folder.references())


@pytest.mark.parametrize("folder", folders(), ids=lambda folder: folder.path.name)
def test_nothing_is_declared_that_nobody_uses(folder: Folder) -> None:
    used = {(reference.kind, reference.name) for reference in folder.references()}

    unused_variables = {name for name in folder.blocks("variable") if ("var", name) not in used}
    unused_locals = {name for name in folder.locals if ("local", name) not in used}

    assert unused_variables - {"project_id"} == set()
    assert unused_locals == set()


def test_modules_are_given_what_they_ask_for_and_nothing_else() -> None:
    for name, call in root().blocks("module").items():
        asked = Folder((GCP / call["source"]).resolve()).blocks("variable")
        given = set(call) - {"source", "count", "depends_on", "__is_block__"}
        needed = {variable for variable, body in asked.items() if "default" not in body}
        assert needed <= given <= set(asked), name


def test_it_is_formatted_as_terraform_formats() -> None:
    program = shutil.which("terraform")
    if program is None:
        assert "\t" not in "".join(file.read_text() for file in GCP.rglob("*.tf"))
        return
    asked = [program, "fmt", "-check", "-recursive", str(GCP)]
    assert subprocess.run(asked, capture_output=True, text=True, check=False).stdout == ""
