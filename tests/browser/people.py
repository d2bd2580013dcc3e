"""Browsers that are signed in already: most tests are about what comes after."""

import requests
from playwright.sync_api import StorageState
from sqlalchemy import Engine

from shared.vocabulary import Role
from tests.api.people import OURS, PASSWORD, add_user
from tests.stack import Stack

SessionState = StorageState


def session_of(stack: Stack, username: str, password: str) -> SessionState:
    """What a browser keeps once this person has signed in: a session of its own."""
    answer = requests.post(
        f"{stack.url}/api/session", json={"username": username, "password": password}, headers=OURS, timeout=60
    )
    assert answer.status_code == 201, answer.text
    [(name, value)] = answer.cookies.items()
    return {
        "cookies": [{"name": name, "value": value, "domain": "127.0.0.1", "path": "/"}],
        "origins": [{"origin": stack.url, "localStorage": [{"name": "signage.signed-in", "value": "1"}]}],
    }


def session_with_role(stack: Stack, database: Engine, username: str, role: Role) -> SessionState:
    """A new person with this role, signed in."""
    add_user(database, username, role)
    return session_of(stack, username, PASSWORD)
