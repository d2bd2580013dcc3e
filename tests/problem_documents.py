"""A check for the problem documents of all functions (`functions/problems.py`)."""

import json
from typing import Any

FIELDS = {"type", "title", "status", "detail", "detail_code", "code", "request_id"}
GIVEN_AWAY = ("Traceback", "Error(", "sqlalchemy", "psycopg", "pg8000", "File ")


def check_problem(reply: Any, status: int, code: str, **extras: Any) -> None:
    """Check an RFC 9457 document: the common fields, these extras, and no internal details."""
    document = json.loads(reply.text)
    assert (reply.status_code, reply.headers["Content-Type"]) == (status, "application/problem+json")
    assert {name: value for name, value in document.items() if name not in FIELDS} == extras
    assert document.keys() >= FIELDS
    assert (document["status"], document["code"]) == (status, code)
    assert document["type"] == f"urn:signage:problem:{code}"
    assert document["request_id"] == reply.headers["X-Request-Id"]
    for given_away in GIVEN_AWAY:
        assert given_away not in reply.text
