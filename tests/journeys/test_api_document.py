"""The Python of docs/api.md, run as a script against a service with a display."""

import re
import subprocess
import sys
import uuid
from pathlib import Path

from deploy.parts.layout import REPOSITORY
from displays.simulated.display import Behaviour
from tests.stack import Stack, enrol


def test_the_guides_python_lists_displays_follows_changes_and_sends_once(stack: Stack, folder: Path) -> None:
    identity = str(uuid.uuid4())
    guide = (REPOSITORY / "docs" / "api.md").read_text(encoding="utf-8")
    script = "\n".join(re.findall(r"```python\n(.*?)```", guide, re.DOTALL))
    assert script.count("next(iter(fleet))") == script.count('"screenshot"') == 1
    script = script.replace("next(iter(fleet))", f"'{identity}'").replace('"screenshot"', '"restart_app"')
    names = ("SIGNAGE_API_URL", "SIGNAGE_ADMIN_TOKEN")

    with enrol(stack.api(), identity, folder, Behaviour(interval_seconds=5)):
        ran = subprocess.run(
            [sys.executable, "-W", "error", "-c", script],
            env={name: stack.environment[name] for name in names},
            capture_output=True,
            text=True,
            check=False,
        )

    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout.splitlines()[-1] == "succeeded None"
