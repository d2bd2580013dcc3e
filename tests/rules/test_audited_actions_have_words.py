"""Every action that the audit log may have has words on the page."""

import re

from deploy.parts.layout import REPOSITORY
from shared.vocabulary import CommandAction
from shared.words.compiler.parse import parse

ACTION = re.compile(r'"((?:[a-z]+_)*[a-z]+\.(?:[a-z]+_)*[a-z]+)"')
AUDITED = re.compile(r"(?:audit\(|AuditLine\(|check_own_password\(|note_failure\(|\baction = ).*")
WORDS = REPOSITORY / "shared/words/en/page"


def audited() -> set[str]:
    """The actions that stand in a line that writes to the audit log."""
    sources = [path for part in ("functions/api", "extensions", "shared") for path in (REPOSITORY / part).rglob("*.py")]
    lines = [line for path in sources for line in AUDITED.findall(path.read_text())]
    return {action for line in lines for action in ACTION.findall(line)}


def test_every_audited_action_has_words() -> None:
    actions = audited()

    assert {"client.delete", "schedule.create", "user.sites", "user.second_factor_remove", "screenshot.look"} <= actions
    names = {message.removeprefix("auditWords-did-") for message in parse(WORDS / "audit.ftl")}
    assert {action.replace(".", "_") for action in actions} - names == set()


def test_every_command_has_a_name_there() -> None:
    """The action of a command is `command.` and what was asked for."""
    labels = parse(WORDS / "states.ftl")

    assert {name for name in labels if name.startswith("actionWords-")} == {
        f"actionWords-{one}" for one in CommandAction
    }
