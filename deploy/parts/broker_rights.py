"""The rights of users at the broker: mosquitto's ACL files.

    python -m deploy.parts.broker_rights [TOPIC_ROOT [LOGIN_PREFIX]]

prints them, for a broker that somebody else runs. On a shared broker each stack has its own topic root, and its own
prefix for the user names of its services.
"""

import argparse
import re
import sys
from collections.abc import Sequence
from typing import Final

from shared.outside.broker_rights import of_display, of_services

RETAINED: Final = ("presence",)  # the only retained messages that a display may publish


def displays_acl(root: str) -> str:
    """A display's rights; %u is its user name."""
    rights = of_display(root, "%u")
    lines = [
        *(f"pattern write {topic}" for topic in rights.writes),
        *(f"pattern read {topic}" for topic in rights.reads),
    ]
    return "\n".join(lines) + "\n"


def services_acl(root: str, login_prefix: str = "") -> str:
    """The rights of each of our services; `login_prefix` comes before their names."""
    sections = []
    for user, rights in of_services(root).items():
        both = set(rights.reads) & set(rights.writes)
        lines = [f"topic {'readwrite' if topic in both else 'read'} {topic}" for topic in rights.reads]
        lines += [f"topic write {topic}" for topic in rights.writes if topic not in both]
        sections.append("\n".join([f"user {login_prefix}{user}", *lines, ""]))
    return "\n".join(sections)


def _name(text: str) -> str:
    """Check a name: a wildcard would give rights on other stacks' topics, a line end would add rules."""
    if not re.fullmatch(r"[A-Za-z0-9_-]{1,64}", text):
        raise argparse.ArgumentTypeError("expected 1 to 64 letters, digits, - or _")
    return text


def main(arguments: Sequence[str]) -> None:
    """Print the ACLs of the services and of displays."""
    parser = argparse.ArgumentParser(prog="python -m deploy.parts.broker_rights", description="Rights at a broker.")
    parser.add_argument("topic_root", nargs="?", type=_name, default="signage")
    parser.add_argument("login_prefix", nargs="?", type=_name)
    given = parser.parse_args(arguments)
    print(f"{services_acl(given.topic_root, given.login_prefix or '')}\n{displays_acl(given.topic_root)}", end="")


if __name__ == "__main__":
    main(sys.argv[1:])
