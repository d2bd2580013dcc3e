"""People who sign in at an OpenID Connect provider: who gets in, as whom, with which rights, and who does not."""

import secrets
from collections.abc import Iterator
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

import pytest
import sqlalchemy as sa
from flask import Flask
from sqlalchemy import Engine
from werkzeug.test import TestResponse

from functions.api.app import create_app
from functions.api.services import Services
from shared.access import operations as access
from shared.access import rules as access_rules
from shared.config import Config
from shared.postgres.door import transaction
from shared.tables import audit_log, provider_identities, user_sessions, users
from shared.vocabulary import Role
from tests.api.accounts import by_cookie, id_of
from tests.api.people import OURS, PASSWORD, Api, add_user, ask_by_cookie, new_address, sign_in
from tests.rules.provider_harness import (
    CLIENT_ID,
    CLIENT_SECRET,
    OUR_ADDRESS,
    Lies,
    Provider,
    callback,
    providing,
)

ROLES: Final = {"signage-admins": Role.ADMIN, "signage-operators": Role.OPERATOR, "signage-viewers": Role.VIEWER}
TRY: Final = "signage_try"
DISCOVERY: Final = "/.well-known/openid-configuration"


@pytest.fixture(scope="module")
def honest() -> Iterator[Provider]:
    with providing() as server:
        yield server


@pytest.fixture(autouse=True)
def provider(honest: Provider) -> Provider:
    """The provider, which tells no lies yet."""
    honest.lies, honest.hidden = Lies(), ()
    honest.asked.clear()
    return honest


def app_with(services: Services, provider: Provider, **settings: Any) -> Flask:
    """One more instance of the api function, at which people sign in by this provider."""
    given = {
        "SSO_ISSUER": provider.issuer,
        "SSO_NAME": "Example",
        "SSO_CLIENT_ID": CLIENT_ID,
        "SSO_CLIENT_SECRET": CLIENT_SECRET,
        "SSO_ROLES": ROLES,
        "PUBLIC_URL": OUR_ADDRESS,
    }
    return create_app(Services(Config({**services.config.values, **given, **settings}), services.engine))


@pytest.fixture(scope="module")
def app(services: Services, honest: Provider) -> Flask:
    return app_with(services, honest)


@pytest.fixture
def at_sites(services: Services, provider: Provider) -> Flask:
    """An instance that takes sites from a claim."""
    return app_with(services, provider, SSO_SITES_CLAIM="shops")


class Browser:
    """A browser with its cookies and address."""

    def __init__(self, app: Flask) -> None:
        self.client = app.test_client()
        self.headers = {"X-Forwarded-For": new_address()}

    def begin(self) -> str:
        """Press the button. Returns where it leads."""
        answer = self.client.post("/api/session/provider", headers={**OURS, **self.headers})
        assert answer.status_code == 200, answer.text
        assert answer.json is not None
        address: str = answer.json["address"]
        return address

    def come_back(self, returned: dict[str, str], app: Flask | None = None) -> TestResponse:
        """Be sent back by the provider, to another instance perhaps."""
        if app is not None:
            self.client.application = app
        return self.client.get(callback(returned), headers=self.headers)

    def sign_in(self, provider: Provider, **claims: Any) -> TestResponse:
        return self.come_back(provider.sign_in(self.begin(), **claims))

    @property
    def session(self) -> dict[str, Any] | None:
        """The session of this browser, as the service sees it."""
        answer = self.client.get("/api/session", headers=self.headers)
        return answer.json if answer.status_code == 200 else None

    @property
    def cookie(self) -> str:
        found = self.client.get_cookie("signage_session", path="/api")
        assert found is not None
        return found.value


def why_not(answer: TestResponse) -> str:
    """The reason that the dashboard is told. Fails when the person was let in."""
    assert answer.status_code == 303, answer.text
    address = urlsplit(answer.headers["Location"])
    assert f"{address.scheme}://{address.netloc}{address.path}" == f"{OUR_ADDRESS}/"
    assert not [cookie for cookie in answer.headers.getlist("Set-Cookie") if cookie.startswith("signage_session")]
    [reason] = parse_qs(address.query)["sign-in"]
    return reason


def new_subject() -> str:
    return secrets.token_hex(8)


def person(**claims: Any) -> dict[str, Any]:
    """The claims of a new person, an operator unless `groups` says otherwise."""
    subject = new_subject()
    return {"sub": subject, "preferred_username": f"cora-{subject}", "groups": ["signage-operators"], **claims}


def audited(engine: Engine, actor: str) -> list[tuple[str, str, str]]:
    with engine.connect() as connection:
        named = sa.select(audit_log.c.action, audit_log.c.target, audit_log.c.result).where(audit_log.c.actor == actor)
        return [tuple(row) for row in connection.execute(named.order_by(audit_log.c.id))]


def people_named(engine: Engine, subject: str) -> list[Any]:
    with engine.connect() as connection:
        whose = sa.select(users).join(provider_identities, provider_identities.c.user_id == users.c.id)
        return list(connection.execute(whose.where(provider_identities.c.subject == subject)))


# --- getting in ---


def test_the_first_sign_in_makes_the_person_with_the_role_of_the_claim(
    app: Flask, provider: Provider, engine: Engine
) -> None:
    browser, cora = Browser(app), person(groups=["staff", "signage-viewers", "signage-operators"])

    answer = browser.sign_in(provider, **cora)

    assert (answer.status_code, answer.headers["Location"]) == (303, f"{OUR_ADDRESS}/")
    name = cora["preferred_username"]
    assert browser.session is not None
    assert browser.session["principal"] == {"kind": "user", "name": name, "role": "operator", "sites": None}
    assert browser.session["by_provider"] is True
    assert audited(engine, f"user:{name}") == [
        ("session.create", f"user:{name}", "done"),
        ("user.create", f"user:{name}", "done"),
    ]


def test_cookies_of_a_sign_in_are_short_lived_and_closed_to_scripts(app: Flask, provider: Provider) -> None:
    browser = Browser(app)
    begun = browser.client.post("/api/session/provider", headers=OURS)
    assert begun.json is not None
    done = browser.come_back(provider.sign_in(begun.json["address"], **person()))

    [during] = begun.headers.getlist("Set-Cookie")
    assert during.startswith(f"{TRY}=")
    assert {"HttpOnly", "SameSite=Lax", "Max-Age=600", "Path=/api"} <= set(during.split("; "))
    over, session = done.headers.getlist("Set-Cookie")
    assert over.startswith(f"{TRY}=;")
    assert "Max-Age=0" in over.split("; ")
    assert {"HttpOnly", "SameSite=Strict"} <= set(session.split("; "))


def test_where_there_is_tls_the_cookie_of_a_try_is_of_this_host_alone(services: Services, provider: Provider) -> None:
    browser = Browser(app_with(services, provider, DEPLOYMENT_MODE="box"))
    answer = browser.client.post("/api/session/provider", headers=OURS)

    [cookie] = answer.headers.getlist("Set-Cookie")
    assert cookie.startswith("__Host-signage_try=")
    assert {"Secure", "Path=/", "HttpOnly"} <= set(cookie.split("; "))


def test_a_page_is_told_the_name_of_the_provider(app: Flask) -> None:
    assert app.test_client().get("/api/session/method").json == {"method": "password", "provider": "Example"}


def test_without_a_provider_there_is_nothing_to_begin_or_to_come_back_to(services: Services) -> None:
    client = create_app(services).test_client()

    for answer in (client.post("/api/session/provider", headers=OURS), client.get("/api/session/provider/callback")):
        assert (answer.status_code, answer.json and answer.json["code"]) == (404, "no_provider")


# --- nobody comes in who did not begin here ---


def test_what_another_browser_began_is_not_finished(app: Flask, provider: Provider) -> None:
    """An attacker's own code and state, given to a victim, sign the victim in nowhere."""
    attacker, victim = Browser(app), Browser(app)
    returned = provider.sign_in(attacker.begin(), **person())

    assert why_not(victim.come_back(returned)) == "try_over"
    own = provider.sign_in(victim.begin(), **person())
    assert why_not(victim.come_back(returned)) == "try_over"
    assert victim.session is None
    assert "/token" not in provider.asked
    assert victim.come_back(own).headers["Location"] == f"{OUR_ADDRESS}/"  # what they began themselves goes on


def test_a_try_is_finished_once_and_at_whatever_instance(app: Flask, services: Services, provider: Provider) -> None:
    provider.lies.redeems_again = True  # it does not even notice itself
    browser, other = Browser(app), app_with(services, provider)
    returned = provider.sign_in(browser.begin(), **person())
    cookie = browser.client.get_cookie(TRY, path="/api")
    assert cookie is not None
    assert browser.come_back(returned, other).headers["Location"] == f"{OUR_ADDRESS}/"
    assert browser.session is not None

    for instance in (app, other):
        again = Browser(instance)
        again.client.set_cookie(TRY, cookie.value, path="/api")
        assert why_not(again.come_back(returned)) == "try_over"
    assert provider.asked.count("/token") == 1


def test_the_way_back_leads_to_our_own_page_whatever_is_asked(app: Flask, provider: Provider) -> None:
    browser = Browser(app)
    returned = provider.sign_in(browser.begin(), **person())
    cookie = browser.client.get_cookie(TRY, path="/api")
    assert cookie is not None
    headers = {"Cookie": f"{TRY}={cookie.value}", "Host": "evil.example", "X-Forwarded-Host": "evil.example"}
    path = callback({**returned, "return_to": "//evil.example", "session_state": "x", "scope": "openid"})

    answer = app.test_client(use_cookies=False).get(path, headers=headers)

    assert answer.headers["Location"] == f"{OUR_ADDRESS}/"


def test_who_is_denied_by_the_provider_is_told_so(app: Flask, provider: Provider) -> None:
    browser = Browser(app)
    state = provider.sign_in(browser.begin())["state"]

    assert why_not(browser.come_back({"error": "access_denied", "state": state})) == "denied_by_provider"


def test_many_failed_returns_from_one_address_are_stopped_and_one_line_an_hour(
    app: Flask, provider: Provider, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(access_rules, "MOST_FAILURES_OF_ACCOUNT", 3)
    browser = Browser(app)
    reasons = []
    for _ in range(5):
        state = provider.sign_in(browser.begin())["state"]
        reasons.append(why_not(browser.come_back({"code": "guessed", "state": state})))

    assert reasons == ["unauthenticated"] * 3 + ["too_many_attempts"] * 2
    assert provider.asked.count("/token") == 3
    assert audited(engine, "anonymous") == [("session.create", "provider", "refused")]


# --- a provider that lies or does not answer ---


def test_nobody_gets_in_by_a_token_that_is_refused(app: Flask, provider: Provider, engine: Engine) -> None:
    """tests/rules/test_people_provider.py has every lie."""
    provider.lies = Lies(claims={"nonce": "another"})
    browser, cora = Browser(app), person()

    assert why_not(browser.sign_in(provider, **cora)) == "unauthenticated"
    assert browser.session is None
    assert people_named(engine, cora["sub"]) == []


def test_while_the_provider_does_not_answer_passwords_still_work(
    app: Flask, services: Services, provider: Provider, anna: str
) -> None:
    browser = Browser(app)
    returned = provider.sign_in(browser.begin(), **person())
    provider.lies = Lies(answers={"/token": (500, b""), DISCOVERY: (500, b"")})

    assert why_not(browser.come_back(returned)) == "provider_unavailable"
    fresh = app_with(services, provider).test_client().post("/api/session/provider", headers=OURS)
    assert (fresh.status_code, fresh.json and fresh.json["code"]) == (503, "provider_unavailable")
    assert fresh.headers["Retry-After"].isdigit()
    assert sign_in(app, anna).status_code == 201


# --- rights ---


def test_nobody_gets_in_without_a_mapped_role(app: Flask, provider: Provider, engine: Engine) -> None:
    browser, cora = Browser(app), person(groups=["staff"])

    assert why_not(browser.sign_in(provider, **cora)) == "no_role_at_provider"
    assert browser.session is None
    assert people_named(engine, cora["sub"]) == []
    assert audited(engine, f"unknown:{cora['preferred_username']}") == [("session.create", "provider", "refused")]


def test_why_nobody_gets_in_stands_on_the_page_and_in_the_log(
    app: Flask, provider: Provider, caplog: pytest.LogCaptureFixture
) -> None:
    """Keycloak sends the path of a group, and Entra ID says above 200 groups only where they could be asked for."""
    why_by_path = why_not(Browser(app).sign_in(provider, **person(groups=["/signage-admins"])))
    left_out = person(_claim_names={"groups": "src1"})
    left_out.pop("groups", None)

    assert why_by_path == "no_role_at_provider"
    told = [record.__dict__["fields"] for record in caplog.records]  # a slow machine logs slow requests, too
    assert [fields["values"] for fields in told if "values" in fields] == [["/signage-admins"]]
    assert why_not(Browser(app).sign_in(provider, **left_out)) == "groups_left_out"


def test_each_sign_in_renews_the_role_and_ends_sessions_with_the_old_one(app: Flask, provider: Provider) -> None:
    before, again, after, cora = Browser(app), Browser(app), Browser(app), person(groups=["signage-operators"])
    before.sign_in(provider, **cora)
    again.sign_in(provider, **cora)
    assert before.session is not None  # nothing has changed

    after.sign_in(provider, **{**cora, "groups": "signage-viewers"})

    assert after.session is not None
    assert after.session["principal"]["role"] == "viewer"
    assert [browser.session for browser in (before, again)] == [None, None]
    assert why_not(Browser(app).sign_in(provider, **{**cora, "groups": []})) == "no_role_at_provider"


def test_role_and_sites_come_from_their_claims_also_of_the_userinfo(at_sites: Flask, provider: Provider) -> None:
    provider.hidden = ("groups", "shops")
    browser = Browser(at_sites)
    browser.sign_in(provider, **person(shops=["Rome", "Bern", "Rome"]))

    assert browser.session is not None
    assert (browser.session["principal"]["role"], browser.session["principal"]["sites"]) == (
        "operator",
        ["Bern", "Rome"],
    )
    assert browser.client.get("/api/clients", headers=browser.headers).status_code == 200
    assert browser.client.get("/api/settings", headers=browser.headers).status_code == 403  # of the whole fleet


def test_a_site_without_displays_that_a_claim_gives_is_written_down_once(
    at_sites: Flask, provider: Provider, engine: Engine
) -> None:
    """So channels of all sites hear of a name that was changed here and not there."""
    old, cora = f"Shop {secrets.token_hex(4)}", person()
    for _ in range(2):
        Browser(at_sites).sign_in(provider, **{**cora, "shops": [old]})

    lines = audited(engine, f"user:{cora['preferred_username']}")
    assert [line for line in lines if line[0] == "site.emptied"] == [("site.emptied", f"site:{old}", "done")]


# --- passwords beside the provider ---


def test_somebody_without_a_password_does_not_get_in_by_one(app: Flask, provider: Provider) -> None:
    cora = person()
    Browser(app).sign_in(provider, **cora)

    assert [sign_in(app, cora["preferred_username"], word).status_code for word in ("None", PASSWORD)] == [401, 401]


def test_an_admin_may_give_them_a_password(app: Flask, api: Api, provider: Provider, engine: Engine) -> None:
    cora = person()
    browser = Browser(app)
    browser.sign_in(provider, **cora)
    name = cora["preferred_username"]

    handed = api.post(f"/api/users/{id_of(engine, name)}/reset-password", "admin", json={"username": name})
    assert handed.json is not None
    assert handed.json["user"]["by_provider"] is True
    assert not browser.session
    by_password = sign_in(app, name, handed.json["one_time_password"])
    assert (by_password.status_code, by_password.json and by_password.json["by_provider"]) == (201, False)

    browser.sign_in(provider, **cora)  # they need not change a password that they did not use
    assert browser.session is not None
    assert browser.session["must_change_password"] is False
    assert browser.client.get("/api/clients", headers=browser.headers).status_code == 200


def test_second_factors_and_passwords_are_the_providers_business(services: Services, provider: Provider) -> None:
    browser = Browser(app_with(services, provider, SECOND_FACTOR_REQUIRED="everybody", SIGNING_KEY="k" * 40))
    browser.sign_in(provider, **person())

    assert browser.session is not None
    assert browser.session["must_set_up_second_factor"] is False
    assert browser.client.get("/api/clients", headers=browser.headers).status_code == 200
    for path, body in (
        ("/api/users/me/password", {"current_password": "x", "new_password": "correct horse battery staple"}),
        ("/api/users/me/second-factor", {"current_password": "x"}),
    ):
        answer = browser.client.post(path, json=body, headers={**OURS, **browser.headers})
        assert answer.status_code == 422, answer.text
        assert "sign-in service" in (answer.json or {})["detail"]


# --- admins and the provider ---


def test_an_admin_can_disable_and_remove_them(app: Flask, api: Api, provider: Provider, engine: Engine) -> None:
    cora = person()
    browser = Browser(app)
    browser.sign_in(provider, **cora)
    path = f"/api/users/{id_of(engine, cora['preferred_username'])}"

    assert api.patch(path, "admin", json={"disabled": True}).status_code == 200
    assert browser.session is None
    assert why_not(browser.sign_in(provider, **cora)) == "person_disabled"
    assert why_not(browser.sign_in(provider, **{**cora, "groups": "signage-admins"})) == "person_disabled"
    assert api.patch(path, "admin", json={"disabled": False}).status_code == 200
    assert browser.sign_in(provider, **cora).headers["Location"] == f"{OUR_ADDRESS}/"

    assert api.delete(path, "admin").status_code == 204
    assert browser.session is None
    assert people_named(engine, cora["sub"]) == []
    browser.sign_in(provider, **cora)  # the provider still gives them a role
    assert len(people_named(engine, cora["sub"])) == 1


def test_the_provider_does_not_take_the_rights_of_the_last_admin_with_a_password(
    app: Flask, provider: Provider, engine: Engine
) -> None:
    cora = person(groups="signage-admins")
    Browser(app).sign_in(provider, **cora)
    with transaction(engine) as connection:
        connection.execute(sa.delete(user_sessions))
        connection.execute(sa.delete(users).where(users.c.username != cora["preferred_username"]))
        connection.execute(sa.update(users).values(password_hash=access.hash_password(PASSWORD)))

    assert why_not(Browser(app).sign_in(provider, **{**cora, "groups": "signage-viewers"})) == "last_admin"
    assert sign_in(app, cora["preferred_username"]).status_code == 201
    add_user(engine, f"keeper-{secrets.token_hex(4)}", Role.ADMIN)
    browser = Browser(app)
    browser.sign_in(provider, **{**cora, "groups": "signage-viewers"})
    assert browser.session is not None
    assert browser.session["principal"]["role"] == "viewer"


# --- out ---


def test_signing_out_ends_our_session_and_leads_to_the_providers_end(app: Flask, provider: Provider) -> None:
    browser = Browser(app)
    browser.sign_in(provider, **person())
    cookie = browser.cookie

    answer = browser.client.delete("/api/session", headers={**OURS, **browser.headers})

    assert answer.status_code == 200
    assert answer.json is not None
    address = urlsplit(answer.json["address"])
    asked = parse_qs(address.query)
    assert f"{address.scheme}://{address.netloc}{address.path}" == f"{provider.issuer}/end"
    assert asked["post_logout_redirect_uri"] == [f"{OUR_ADDRESS}/"]
    assert asked["id_token_hint"][0].count(".") == 2
    assert ask_by_cookie(app, "GET", "/api/session", cookie).status_code == 401


def test_signing_out_works_without_the_provider(app: Flask, services: Services, provider: Provider) -> None:
    browser = Browser(app)
    browser.sign_in(provider, **person())
    provider.lies.answers[DISCOVERY] = 500, b""

    browser.client.application = app_with(services, provider)  # which has not asked the provider yet
    answer = browser.client.delete("/api/session", headers={**OURS, **browser.headers})

    assert answer.status_code == 204
    assert browser.session is None


def test_who_signed_in_by_password_signs_out_as_ever(app: Flask, anna: str) -> None:
    cookie = sign_in(app, anna).headers["Set-Cookie"].partition("=")[2].split(";")[0]

    assert by_cookie(app, "DELETE", "/api/session", cookie).status_code == 204
