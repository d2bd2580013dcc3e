"""The release before, which the campaign `versions` takes from the git history; the campaign itself takes minutes."""

import subprocess
from pathlib import Path
from typing import Final

import pytest

from tests.lab.campaigns import old_code
from tests.lab.campaigns.together import Found
from tests.lab.campaigns.upgrade import live_through_an_upgrade

BEFORE: Final = old_code.release_before()


@pytest.mark.skipif(BEFORE is None, reason="no older commit has a tag of a release: there is none to upgrade from")
def test_an_upgrade_from_the_release_before_is_lived_through(tmp_path: Path) -> None:
    """Its code on its own schema, today's migrations, both versions together, over and back, while displays talk."""
    assert BEFORE is not None
    found = Found()
    tmp_path.chmod(0o755)

    with old_code.taken_out(*BEFORE, tmp_path) as version:
        live_through_an_upgrade(version, 4, 1, tmp_path / "upgrade", found)

    [ledger] = found.ledgers
    assert found.wrong == {}
    assert ledger.broken == []
    assert ledger.counted["lines"] > 0


def commit(folder: Path, *tags: str) -> str:
    """Make a commit with these tags. Returns its id."""
    person = ("-c", "user.name=a", "-c", "user.email=a@signage.test")
    subprocess.run(["git", *person, "commit", "--quiet", "--allow-empty", "-m", f"With {tags}"], cwd=folder, check=True)
    for tag in tags:
        subprocess.run(["git", *person, "tag", "-a", "-m", "x", tag], cwd=folder, check=True)
    done = subprocess.run(["git", "rev-parse", "HEAD"], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


@pytest.fixture
def history(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty repository in the place of this one."""
    subprocess.run(["git", "init", "--quiet", "--initial-branch=main"], cwd=tmp_path, check=True)
    monkeypatch.setattr(old_code, "REPOSITORY", tmp_path)
    return tmp_path


@pytest.mark.skipif(not old_code.is_here(), reason="without git there is no history")
def test_the_release_before_is_the_newest_one_on_the_way_here(history: Path) -> None:
    first = commit(history)
    assert old_code.release_before() is None

    commit(history, "v0.9.0")
    assert old_code.release_before() is None  # this is it
    tenth = commit(history, "v0.10.0", "v0.11.0-try", "v1")
    subprocess.run(["git", "checkout", "--quiet", "-b", "elsewhere", first], cwd=history, check=True)
    commit(history, "v7.0.0")
    subprocess.run(["git", "checkout", "--quiet", "main"], cwd=history, check=True)
    commit(history)

    assert old_code.release_before() == ("v0.10.0", tenth)
