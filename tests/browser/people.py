"""Sessions of signed-in people, for the tests that are not about signing in."""

import requests
from playwright.sync_api import StorageState
from sqlalchemy import Engine

from shared.vocabulary import Role
from tests.api.people import OURS, PASSWORD, add_user
from tests.stack import Stack

SessionState = StorageState


def session_of(stack: Stack, username: str, password: str) -> SessionState:
    """Sign in as this person and return what a browser stores: a session of its own."""
    answer = requests.post(
        f"{stack.url}/api/session", json={"username": username, "password": password}, headers=OURS, timeout=60
    )
    assert answer.status_code == 201, answer.text
    cookies = answer.cookies.items()
    return {
        "cookies": [{"name": name, "value": value, "domain": "127.0.0.1", "path": "/"} for name, value in cookies],
        "origins": [{"origin": stack.url, "localStorage": [{"name": "signage.signed-in", "value": "1"}]}],
    }


def session_with_role(stack: Stack, database: Engine, username: str, role: Role) -> SessionState:
    """Create a person with this role and sign in as them."""
    add_user(database, username, role)
    return session_of(stack, username, PASSWORD)
