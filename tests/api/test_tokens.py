"""API tokens over HTTP: issued once, listed without the secret, revoked at once; each change is audited."""

from datetime import datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import Engine

from shared.access import rules
from shared.postgres.door import database_now, transaction
from tests.api.people import Api


def issue(api: Api, **body: Any) -> dict[str, Any]:
    answer = api.post("/api/tokens", role="admin", json={"name": "ci", "role": "viewer", **body})
    assert answer.status_code == 201
    assert answer.json is not None
    return dict(answer.json)


def test_an_issued_token_works_and_ends_at_once_when_deleted(api: Api) -> None:
    issued = issue(api, role="operator")

    assert set(issued) == {"id", "name", "role", "sites", "expires_at", "token"}
    assert rules.parse_token(issued["token"]) is not None
    assert api.get("/api/dead-letters", token=issued["token"]).status_code == 200
    assert api.delete(f"/api/tokens/{issued['id']}").status_code == 204
    assert api.get("/api/dead-letters", token=issued["token"]).status_code == 401
    assert api.delete(f"/api/tokens/{issued['id']}").status_code == 204  # a repeat changes nothing


def test_a_token_that_was_issued_behind_a_gateway_has_its_seal_and_works(api: Api) -> None:
    answer = api.post("/api/tokens", "admin", json={"name": "ci", "role": "viewer"}, headers={"X-Gateway-Key": "key"})
    text = answer.get_json()["token"]

    assert text == rules.sealed(text.rpartition(".")[0], "key")
    assert api.get("/api/clients", token=text).status_code == 200


def test_the_list_shows_every_token_and_no_secret(api: Api) -> None:
    issued = [issue(api) for _ in range(3)]
    api.get("/api/session", token=issued[0]["token"])

    listed: dict[str, Any] = {}
    cursor = None
    while True:
        answer = api.get(
            "/api/tokens", role="admin", query_string={"limit": 2, **({"cursor": cursor} if cursor else {})}
        )
        assert answer.json is not None
        assert all(token["token"] not in answer.text for token in issued)
        assert all(token["token"].split("_")[2] not in answer.text for token in issued)
        listed |= {item["id"]: item for item in answer.json["items"]}
        cursor = answer.json["next_cursor"]
        if cursor is None:
            break

    assert {token["id"] for token in issued} <= set(listed)
    assert listed[issued[0]["id"]]["last_used_at"].endswith("Z")
    assert listed[issued[1]["id"]]["last_used_at"] is None
    assert listed[issued[0]["id"]]["created_by"].startswith("token:test admin#")


def test_a_token_works_until_the_time_it_was_issued_for(api: Api, engine: Engine) -> None:
    with transaction(engine) as connection:
        now = database_now(connection)
    issued = issue(api, expires_at=(now + timedelta(hours=1)).isoformat())

    assert datetime.fromisoformat(issued["expires_at"]) == now + timedelta(hours=1)
    assert issued["expires_at"].endswith("Z")
    assert api.get("/api/session", token=issued["token"]).status_code == 200


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({"name": "", "role": "viewer"}, 400, "invalid_field"),
        ({"name": "x" * 201, "role": "viewer"}, 400, "invalid_field"),
        ({"name": "x", "role": "root"}, 400, "invalid_field"),
        ({"name": "x"}, 400, "invalid_field"),
        ({"name": "x", "role": "viewer", "expires_at": "2001-01-01T00:00:00Z"}, 422, "expiry_in_the_past"),
        ({"name": "x", "role": "viewer", "expires_at": "2101-01-01"}, 400, "invalid_field"),
        ({"name": "x", "role": "viewer", "expires_at": "9999-12-31T23:59:59Z"}, 422, "expiry_too_far"),
        ({"name": "x", "role": "viewer", "expires_at": "9999-12-31T23:59:59-12:00"}, 400, "invalid_field"),
    ],
)
def test_a_token_that_cannot_be_is_refused(api: Api, body: dict[str, Any], status: int, code: str) -> None:
    answer = api.post("/api/tokens", role="admin", json=body)

    assert answer.status_code == status
    assert answer.json is not None
    assert answer.json["code"] == code


def test_an_unknown_token_is_a_404(api: Api) -> None:
    answer = api.delete("/api/tokens/000000000000")

    assert answer.status_code == 404
    assert answer.json is not None
    assert answer.json["code"] == "token_not_found"


def test_issuing_and_ending_stand_in_the_audit_log(api: Api) -> None:
    issued = issue(api, name="for the audit")
    deleted = api.delete(f"/api/tokens/{issued['id']}")

    answer = api.get("/api/audit", role="admin", query_string={"target": f"token:{issued['id']}"})

    assert answer.json is not None
    newest, oldest = answer.json["items"]
    assert (newest["action"], newest["request_id"]) == ("token.delete", deleted.headers["X-Request-Id"])
    assert (oldest["action"], oldest["result"]) == ("token.create", "done")
    assert oldest["details"] == {"name": "for the audit", "role": "viewer"}
    assert oldest["actor"].startswith("token:test admin#")
    assert issued["token"] not in answer.text


def test_the_audit_log_pages_without_gap_or_repeat(api: Api) -> None:
    for _ in range(5):
        issue(api)

    seen: list[int] = []
    cursor = None
    while len(seen) < 5:
        query = {"limit": 2, "action": "token.create", **({"cursor": cursor} if cursor else {})}
        answer = api.get("/api/audit", role="admin", query_string=query).json
        assert answer is not None
        seen += [item["id"] for item in answer["items"]]
        cursor = answer["next_cursor"]

    assert seen == sorted(set(seen), reverse=True)
