"""Every action that the audit log may have has words on the page."""

import re

from deploy.parts.layout import REPOSITORY

ACTION = re.compile(r'"((?:[a-z]+_)*[a-z]+\.(?:[a-z]+_)*[a-z]+)"')
AUDITED = re.compile(r"(?:audit\(|AuditLine\(|check_own_password\(|note_failure\(|\baction = ).*")
WORDS = REPOSITORY / "dashboard/lib/words/audit.js"


def audited() -> set[str]:
    """The actions that stand in a line that writes to the audit log."""
    sources = [path for part in ("functions/api", "shared") for path in (REPOSITORY / part).rglob("*.py")]
    lines = [line for path in sources for line in AUDITED.findall(path.read_text())]
    return {action for line in lines for action in ACTION.findall(line)}


def test_every_audited_action_has_words() -> None:
    actions = audited()

    assert {"client.delete", "schedule.create", "user.sites", "user.second_factor_remove", "screenshot.look"} <= actions
    assert actions - set(ACTION.findall(WORDS.read_text())) == set()
