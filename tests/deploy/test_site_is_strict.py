"""`make docs` ends with an error, and says why, where a link, a picture or a way to a page is missing."""

import shutil
from pathlib import Path
from typing import Final

from deploy.parts.layout import REPOSITORY
from tests import site_of_documents

MISSING: Final = {
    "nowhere.md": "[a page](nowhere.md)",
    "no-such-heading": "[a heading](alerts.md#no-such-heading)",
    "no-such-picture.png": "![a picture](pictures/no-such-picture.png)",
}


def test_what_leads_nowhere_ends_the_build(tmp_path: Path) -> None:
    source = tmp_path / "source"
    files = [REPOSITORY / name for name in ("Makefile", "LICENSE", "NOTICE", "docs/openapi.json")]
    for path in [*files, *site_of_documents.DOCUMENTS]:
        copy = source / path.relative_to(REPOSITORY)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, copy)
    for folder in ("docs/site", "docs/pictures"):
        shutil.copytree(REPOSITORY / folder, source / folder)
    with (source / "docs" / "concepts.md").open("a", encoding="utf-8") as page:
        page.write("\n" + "\n\n".join(MISSING.values()) + "\n")
    (source / "docs" / "orphan.md").write_text("# Nobody leads here\n", encoding="utf-8")

    made = site_of_documents.make(tmp_path / "made", source)
    complaints = [line for line in made.stderr.splitlines() if "WARNING" in line]

    assert made.returncode != 0
    assert len(complaints) == len(MISSING) + 1, made.stderr
    for name in (*MISSING, "orphan.md"):
        assert [line for line in complaints if name in line], made.stderr
