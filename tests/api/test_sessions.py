"""Signing in and out, the limit on wrong passwords, and the defence against requests forged by other sites."""

import secrets
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest
import sqlalchemy as sa
from flask import Flask
from sqlalchemy import Engine

from functions.api.app import create_app
from functions.api.services import Services
from functions.api.turns import STRANGERS
from shared.access import rules as access_rules
from shared.access.rules import digest, sealed
from shared.config import Config
from shared.postgres.door import transaction
from shared.tables import audit_log, audit_repeats, login_failures, user_sessions
from tests.api.people import OURS, PASSWORD, Api, ask_by_cookie, cookie_of, new_address, sign_in


def test_signing_in_says_who_one_is_and_sets_the_cookie(app: Flask, anna: str) -> None:
    answer = sign_in(app, anna)

    assert answer.status_code == 201
    assert answer.json is not None
    assert answer.json["principal"] == {"kind": "user", "name": anna, "role": "operator", "sites": None}
    expires_at = datetime.fromisoformat(answer.json["expires_at"])
    assert timedelta(hours=11, minutes=59) < expires_at - datetime.now(UTC) < timedelta(hours=12, minutes=1)
    assert answer.json["expires_at"].endswith("Z")


def test_the_cookie_is_out_of_reach_of_scripts_and_other_sites(app: Flask, anna: str) -> None:
    flags = {part.strip() for part in sign_in(app, anna).headers["Set-Cookie"].split(";")[1:]}

    assert {"HttpOnly", "SameSite=Strict", "Path=/api", "Max-Age=43200"} <= flags
    assert "Secure" not in flags  # mode `local` is plain HTTP on loopback


def test_outside_local_the_cookie_travels_over_tls_only(services: Services, anna: str) -> None:
    boxed = create_app(Services(Config({**services.config.values, "DEPLOYMENT_MODE": "box"}), services.engine))

    name, *flags = sign_in(boxed, anna).headers["Set-Cookie"].split("; ")

    assert name.startswith("__Host-signage_session=")
    assert {"Secure", "HttpOnly", "SameSite=Strict", "Path=/"} <= set(flags)
    assert not any(flag.startswith("Domain") for flag in flags)


@pytest.mark.parametrize(
    ("mode", "name", "path"),
    [("local", "signage_browser", "Path=/api"), ("box", "__Host-signage_browser", "Path=/")],
)
def test_a_browser_that_signed_in_behind_a_gateway_stays_known_to_it(
    services: Services, anna: str, mode: str, name: str, path: str
) -> None:
    client = create_app(Services(Config({**services.config.values, "DEPLOYMENT_MODE": mode}), services.engine))
    gateway = {"X-Gateway-Key": "the gateway's key"}
    asked = {"json": {"username": anna, "password": PASSWORD}, "headers": {"X-Forwarded-For": new_address(), **gateway}}

    session, browser = client.test_client(use_cookies=False).post("/api/session", **asked).headers.getlist("Set-Cookie")

    cookie, *flags = browser.split("; ")
    value = cookie.removeprefix(f"{name}=")
    assert value == sealed(value.rpartition(".")[0], "the gateway's key")
    assert {"HttpOnly", "SameSite=Lax", path, "Max-Age=15552000"} <= set(flags)
    again = {"Cookie": session.split(";")[0], **OURS, **gateway}
    gone = client.test_client(use_cookies=False).delete("/api/session", headers=again)
    assert [one.partition("=")[0] for one in gone.headers.getlist("Set-Cookie")] == [session.partition("=")[0]]


def test_without_a_gateway_there_is_no_cookie_but_that_of_the_session(app: Flask, anna: str) -> None:
    [session] = sign_in(app, anna).headers.getlist("Set-Cookie")

    assert session.startswith("signage_session=")


def test_outside_local_a_cookie_that_a_sibling_host_could_plant_means_nothing(services: Services, anna: str) -> None:
    boxed = create_app(Services(Config({**services.config.values, "DEPLOYMENT_MODE": "box"}), services.engine))
    session = cookie_of(sign_in(boxed, anna))

    def ask(cookie: str) -> int:
        client = boxed.test_client(use_cookies=False)
        return client.get("/api/session", headers={"Cookie": cookie}).status_code

    assert ask(f"signage_session={session}") == 401
    assert ask(f"signage_session=planted; __Host-signage_session={session}") == 200


def test_the_database_holds_only_a_digest_of_the_cookie(engine: Engine, cookie: str) -> None:
    with engine.connect() as connection:
        kept = list(connection.execute(sa.select(user_sessions.c.id_hash)).scalars())

    assert cookie not in kept
    assert digest(cookie) in kept


def test_the_session_shows_its_person_and_a_token_shows_its_name(app: Flask, api: Api, anna: str, cookie: str) -> None:
    person = ask_by_cookie(app, "GET", "/api/session", cookie).json
    token = api.get("/api/session", role="admin").json

    assert person is not None
    assert token is not None
    assert person["principal"]["name"] == anna
    assert token["principal"] == {"kind": "token", "name": "test admin", "role": "admin", "sites": None}
    assert token["expires_at"] is None


def test_signing_out_ends_the_session_and_clears_the_cookie(app: Flask, api: Api, anna: str, cookie: str) -> None:
    answer = ask_by_cookie(app, "DELETE", "/api/session", cookie, OURS)

    assert answer.status_code == 204
    assert "Max-Age=0" in answer.headers["Set-Cookie"]
    assert ask_by_cookie(app, "GET", "/api/session", cookie).status_code == 401
    log = api.get("/api/audit", "admin", query_string={"target": f"user:{anna}", "action": "session.delete"}).json
    assert [line["actor"] for line in (log or {})["items"]] == [f"user:{anna}"]


def test_a_token_has_no_session_to_end(api: Api) -> None:
    answer = api.delete("/api/session", role="admin")

    assert answer.status_code == 422


@pytest.mark.parametrize("cookie", ["", "x", "x" * 600, "\u00e4", "'; DROP TABLE users; --"])
def test_a_cookie_that_is_none_of_ours_is_nobody(app: Flask, cookie: str) -> None:
    assert ask_by_cookie(app, "GET", "/api/session", cookie).status_code == 401


def test_a_bad_token_is_not_made_good_by_a_cookie(app: Flask, cookie: str) -> None:
    answer = ask_by_cookie(app, "GET", "/api/session", cookie, {"Authorization": "Bearer sgn_x"})

    assert answer.status_code == 401


# --- changes by cookie ---


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"X-Requested-With": "XMLHttpRequest"},
        {**OURS, "Origin": "https://evil.test"},
        {**OURS, "Origin": "null"},
        {**OURS, "Origin": "http://localhost.evil.test"},
        {**OURS, "Sec-Fetch-Site": "cross-site"},
        {**OURS, "Sec-Fetch-Site": "same-site"},
        {**OURS, "Origin": "http://localhost", "Sec-Fetch-Site": "cross-site"},
        {"Origin": "http://localhost", "Sec-Fetch-Site": "same-origin"},  # without the header
    ],
)
def test_a_change_by_cookie_that_may_come_from_another_site_is_refused(
    app: Flask, cookie: str, headers: dict[str, str]
) -> None:
    answer = ask_by_cookie(app, "DELETE", "/api/session", cookie, headers)

    assert answer.status_code == 403
    assert answer.json is not None
    assert answer.json["code"] == "cross_site_request"
    assert ask_by_cookie(app, "GET", "/api/session", cookie).status_code == 200  # nothing changed


@pytest.mark.parametrize(
    "headers",
    [
        OURS,
        {**OURS, "Origin": "http://localhost"},
        {**OURS, "Sec-Fetch-Site": "same-origin", "Origin": "http://LOCALHOST"},
    ],
)
def test_a_change_by_cookie_from_our_own_page_goes_through(app: Flask, cookie: str, headers: dict[str, str]) -> None:
    assert ask_by_cookie(app, "DELETE", "/api/session", cookie, headers).status_code == 204


def test_another_sites_form_cannot_sign_somebody_in(app: Flask, anna: str) -> None:
    client = app.test_client(use_cookies=False)
    body = {"username": anna, "password": PASSWORD}

    from_elsewhere = client.post("/api/session", json=body, headers={"Origin": "https://evil.test"})
    as_form = client.post("/api/session", data=body)

    assert from_elsewhere.status_code == 403
    assert as_form.status_code == 415


# --- wrong passwords ---


def test_after_five_wrong_passwords_the_address_waits_even_with_the_right_one(
    app: Flask, engine: Engine, anna: str
) -> None:
    address = new_address()
    codes = [sign_in(app, anna, "wrong", address).status_code for _ in range(5)]

    answer = sign_in(app, anna, address=address)

    assert codes == [401] * 5
    assert answer.status_code == 429
    assert answer.json is not None
    assert answer.json["code"] == "too_many_attempts"
    assert 600 <= int(answer.headers["Retry-After"]) == answer.json["retry_after_seconds"] <= 900
    with transaction(engine) as connection:  # the window passes
        past = login_failures.c.at - timedelta(minutes=15)
        connection.execute(sa.update(login_failures).where(login_failures.c.bucket.contains(address)).values(at=past))
    assert sign_in(app, anna, address=address).status_code == 201


def test_a_stranger_with_many_addresses_does_not_lock_out_who_signed_in_here_before(
    app: Flask, anna: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(access_rules, "MOST_FAILURES_OF_ACCOUNT", 6)
    home = new_address()
    assert sign_in(app, anna, address=home).status_code == 201
    codes = [sign_in(app, anna, "wrong").status_code for _ in range(7)]

    assert codes == [401] * 6 + [429]
    assert sign_in(app, anna).status_code == 429  # the right password from a new address
    assert sign_in(app, anna, address=home).status_code == 201
    assert [sign_in(app, anna, "wrong", home).status_code for _ in range(6)] == [401] * 5 + [429]


def test_right_passwords_never_count(app: Flask, anna: str) -> None:
    address = new_address()

    assert [sign_in(app, anna, address=address).status_code for _ in range(8)] == [201] * 8


def test_of_many_tries_at_once_only_five_are_told_wrong(app: Flask, anna: str) -> None:
    address = new_address()
    with ThreadPoolExecutor(STRANGERS.most_of_one) as pool:
        codes = list(pool.map(lambda _: sign_in(app, anna, "wrong", address).status_code, range(12)))

    assert sorted(codes) == [401] * 5 + [429] * 7


def test_failed_and_good_sign_ins_stand_in_the_audit_log_without_passwords(
    app: Flask, engine: Engine, anna: str
) -> None:
    sign_in(app, anna, "a wrong one")
    sign_in(app, anna)

    with engine.connect() as connection:
        mine = sa.select(audit_log).where(audit_log.c.target == f"user:{anna}").order_by(audit_log.c.id)
        refused, done = connection.execute(mine).all()
    assert (refused.actor, refused.action, refused.result) == ("anonymous", "session.create", "refused")
    assert (done.actor, done.action, done.result) == (f"user:{anna}", "session.create", "done")
    assert "a wrong one" not in str(tuple(refused))


def test_what_was_typed_in_place_of_a_name_stands_nowhere(app: Flask, api: Api) -> None:
    typed = f"my own password {secrets.token_hex(4)}"

    assert sign_in(app, typed, "anna").status_code == 401

    assert typed not in api.get("/api/audit", "admin", query_string={"limit": 100}).text


def test_tries_with_names_that_nobody_has_are_counted_in_one_line_an_hour(app: Flask, engine: Engine) -> None:
    to_nobody = audit_repeats.c.target == "user:?"
    with engine.begin() as connection:
        connection.execute(sa.delete(audit_repeats).where(to_nobody))  # the hour begins
        before = connection.execute(sa.select(sa.func.max(audit_log.c.id))).scalar_one() or 0

    assert [sign_in(app, f"nobody-{number}", "wrong").status_code for number in range(8)] == [401] * 8

    with engine.connect() as connection:
        lines = connection.execute(sa.select(audit_log).where(audit_log.c.id > before)).all()
        [repeats] = connection.execute(sa.select(audit_repeats.c.repeats).where(to_nobody)).scalars()
    assert [(line.actor, line.action, line.target) for line in lines] == [("anonymous", "session.create", "user:?")]
    assert repeats == 7
