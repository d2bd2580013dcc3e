"""The versions that the campaign `versions` takes from the git history; the campaign itself takes minutes."""

import subprocess

import pytest

from deploy.parts.layout import REPOSITORY
from tests.lab.campaigns import old_code
from tests.stores.schema_promises import FIRST_CODE, chain


@pytest.mark.skipif(not old_code.is_here(), reason="a tarball, or a shallow clone, has no history")
def test_before_each_migration_there_was_code_that_did_not_know_it() -> None:
    found = old_code.commits()
    first = [script.revision for script in chain()].index(FIRST_CODE) + 1

    assert [revision for revision, _ in found] == [script.revision for script in chain()[first:]]
    for script, (_, commit) in zip(chain()[first:], found, strict=True):
        there = subprocess.run(
            ["git", "ls-tree", "-r", "--name-only", commit, "shared/errors.py", "migrations/versions"],
            cwd=REPOSITORY,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        assert "shared/errors.py" in there
        assert script.path.rpartition("/")[2] not in there
