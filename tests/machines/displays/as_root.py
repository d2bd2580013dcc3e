"""`python -m tests.machines.displays.as_root FOLDER USER COMMAND...`: a command of the agent as root, in this folder.

The agent's user is USER. Whatever root opens or changes by a path below a folder of that user is printed as JSON, last.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from displays.agent import doctor, enrolment, user
from displays.agent.__main__ import show_status
from displays.agent.settings import Places

CHANGES = ("open", "os.")


def main(folder: str, name: str, *command: str) -> None:
    places, touched, patch = Places(Path(folder)), list[str](), pytest.MonkeyPatch()
    theirs = (f"{places.state}/", f"{places.status.parent}/")

    def note(event: str, given: tuple[Any, ...]) -> None:
        if event.startswith(CHANGES) and os.geteuid() == 0:
            touched.extend(f"{event} {one}" for one in given if isinstance(one, str) and one.startswith(theirs))

    patch.setattr(user, "USER", name)
    patch.setattr(enrolment, "_systemctl", lambda *_: None)
    patch.setattr(enrolment, "_load_state", lambda _: "loaded")
    patch.setattr(enrolment, "HEARD_SECONDS", 0.5)
    sys.addaudithook(note)
    try:
        if command[0] == "enrol":
            enrolment.enrol(places, command[1], "A-CODE")
        elif command[0] == "player":
            enrolment.name_player(places, command[1])
        else:
            {"doctor": doctor.examine, "status": show_status}[command[0]](places)
    except enrolment.NotEnrolled as refusal:
        print(refusal)
    print(json.dumps(touched))


if __name__ == "__main__":
    main(*sys.argv[1:])
