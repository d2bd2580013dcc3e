"""What acts later in somebody's name acts by the rights of then: a table of plans, and of what happened meanwhile."""

import secrets
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import pytest
import sqlalchemy as sa
from sqlalchemy import Engine

from extensions.batches import operations as batches
from extensions.batches import schedules_operations as schedules
from extensions.batches import schedules_store
from functions.api.app import create_app
from functions.api.routing import Bound, Call, Routes
from functions.api.services import Services
from shared.access import store as access_store
from shared.access.people import store as people_store
from shared.access.rules import digest, parse_token
from shared.commands import operations as commands
from shared.commands.outbox import operations as outbox
from shared.config import Config
from shared.postgres.door import database_now, transaction
from shared.quiet import operations as quiet_times
from shared.tables import api_tokens, client_commands, clients, users
from shared.vocabulary import Role
from shared.words.reader import english
from tests import migrated
from tests.api.people import OURS, Api, cookies
from tests.api.site_world import planned, token_for
from tests.api.test_rights_by_site import wait_until_somebody_waits
from tests.conftest import patient_engine
from tests.stores.commands_world import new_client

GRACE: Final = timedelta(minutes=10)
HOLD: Final = {"preset": "hold", "reason": "painted"}
ABLE: Final = ["restart_app", "reboot_host"]
MAY_NOT, NOT_THERE = "maker_may_not", "not_at_makers_sites"


@dataclass
class Maker:
    """Somebody with rights for two of this test's three sites, and two displays at the first of them."""

    api: Api
    engine: Engine
    tick: Engine
    config: Config
    headers: dict[str, str] = field(default_factory=dict)
    id: str = ""
    name: str = ""

    def __post_init__(self) -> None:
        mark = secrets.token_hex(4)
        self.home, self.second, self.away = (f"{name} {mark}" for name in ("Home", "Second", "Away"))
        self.first, self.display = (new_client(self.engine, site=self.home, capabilities=ABLE) for _ in range(2))

    @property
    def sites(self) -> list[str]:
        return [self.home, self.second]

    def ask(self, method: str, path: str, json: Any = None, **headers: str) -> Any:
        """Ask as the maker."""
        body = {} if json is None else {"json": json}
        return self.api.ask(method, path, None, headers={**self.headers, **headers}, **body)

    def made(self, path: str, json: Any) -> Any:
        answer = self.ask("POST", path, json)
        assert answer.status_code in {201, 202}, answer.get_data(as_text=True)
        return answer.get_json()


def person(maker: Maker, role: Role = Role.ADMIN) -> None:
    maker.name = f"maker-{secrets.token_hex(4)}"
    with transaction(maker.engine) as connection:
        now = database_now(connection)
        user = people_store.insert_user(connection, now, maker.name, "", role, False, sites=maker.sites)
    assert user is not None
    maker.id = str(user.id)
    sign_in(maker)


def sign_in(maker: Maker) -> None:
    cookie = secrets.token_urlsafe(32)
    with transaction(maker.engine) as connection:
        now = database_now(connection)
        access_store.insert_session(connection, digest(cookie), int(maker.id), now, now + timedelta(hours=1))
    maker.headers = {"Cookie": cookies(cookie), **OURS}


def script(maker: Maker) -> None:
    text = token_for(maker.engine, Role.ADMIN, maker.sites)
    parsed = parse_token(text)
    assert parsed is not None
    maker.id, maker.headers = parsed[0], {"Authorization": f"Bearer {text}"}


# --- what happens meanwhile ---


def move(maker: Maker) -> None:
    assert maker.api.patch(f"/api/clients/{maker.display}", "admin", json={"site": maker.away}).status_code == 200


def change(**facts: Any) -> Callable[[Maker], None]:
    def changed(maker: Maker) -> None:
        said = {name: getattr(maker, value[1:-1]) if str(value)[:1] == "{" else value for name, value in facts.items()}
        body = {name: [value] if name == "sites" else value for name, value in said.items()}
        assert maker.api.patch(f"/api/users/{maker.id}", "admin", json=body).status_code == 200

    return changed


def remove(maker: Maker) -> None:
    assert maker.api.delete(f"/api/users/{maker.id}", "admin").status_code == 204


def revoke(maker: Maker) -> None:
    assert maker.api.delete(f"/api/tokens/{maker.id}", "admin").status_code == 204


def expire(maker: Maker) -> None:
    with transaction(maker.engine) as connection:
        over = sa.update(api_tokens).where(api_tokens.c.id == maker.id)
        connection.execute(over.values(expires_at=database_now(connection)))


HAPPENS: Final[Mapping[str, tuple[Callable[[Maker], None], Callable[[Maker], None]]]] = {
    "moved": (person, move),
    "narrowed": (person, change(sites="{second}")),
    "viewer": (person, change(role="viewer")),
    "disabled": (person, change(disabled=True)),
    "removed": (person, remove),
    "revoked": (script, revoke),
    "expired": (script, expire),
}
"""Event -> how the maker is known, and what happens."""


# --- what was planned: each makes it, and returns what became of it later ---

Later = Callable[[], Any]


def schedule(maker: Maker, **whom: Any) -> Later:
    plan = maker.made("/api/schedules", planned(**whom))["id"]

    def later() -> Any:
        with transaction(maker.tick) as connection:
            now = database_now(connection)
            schedules_store.move_on(connection, plan, now)
            [run] = schedules.take_turn(connection, now, plan, GRACE)
        shown = maker.api.get(f"/api/schedules/{plan}", "admin").get_json()
        [said] = shown["times"]["items"]
        assert (said["outcome"], said["why"]) == (run.outcome, run.why and english(run.why))
        return run.outcome if run.why is None else run.why.code

    return later


def batch(maker: Maker, *, is_paused: bool = False) -> Later:
    both = {"action": "restart_app", "clients": [maker.first, maker.display], "waves": [1, "rest"]}
    batch_id = maker.made("/api/commands", both)["batch_id"]
    with transaction(maker.engine) as connection:  # the first display restarts, as it was told
        done = sa.update(client_commands).where(client_commands.c.client_uuid == maker.first)
        connection.execute(done.values(state="succeeded", finished_at=sa.func.now()))
    if is_paused:
        assert maker.ask("POST", f"/api/command-batches/{batch_id}/pause").status_code == 200

    def later() -> Any:
        if is_paused:
            assert maker.api.post(f"/api/command-batches/{batch_id}/resume", "admin").status_code == 200
        batches.work_off(maker.tick, commands.timings(maker.config), 60, [batch_id])
        shown = maker.api.get(f"/api/command-batches/{batch_id}", "admin").get_json()
        outcomes = {one["uuid"]: one["outcome"] for one in shown["members"]["items"]}
        assert outcomes[maker.first] == "accepted"
        with transaction(maker.tick) as connection:
            why = batches.find(connection, batch_id).state_reason
        return outcomes[maker.display], shown["state"], why and why.code

    return later


def command(maker: Maker) -> Later:
    """A command that waits, because the broker is away or the display is not connected."""
    made = maker.made(f"/api/clients/{maker.display}/commands", {"action": "reboot_host", "ttl_seconds": 3600})
    assert made["state"] == "queued"

    def later() -> Any:
        with transaction(maker.tick) as connection:
            now = database_now(connection)
            claimed = outbox.claim_due(connection, now + timedelta(minutes=30), client_uuids=[maker.display])
            connection.rollback()
        with transaction(maker.tick) as connection:
            commands.expire(connection, now)
        shown = maker.api.get(f"/api/commands/{made['id']}", "admin").get_json()
        assert len(claimed) == (shown["state"] == "queued")
        return shown["state"], shown["outcome_reason"]

    return later


def quiet_time(maker: Maker, **whom: Any) -> Later:
    maker.made("/api/quiet-times", {**HOLD, **whom})

    def later() -> bool:
        with transaction(maker.tick) as connection:
            covered = quiet_times.coverage(connection, database_now(connection), [maker.display])
        shown = maker.api.get(f"/api/clients/{maker.display}/quiet-times", "admin").get_json()["items"]
        assert len(shown) == len(covered)
        return bool(covered)

    return later


def status_link(maker: Maker) -> Later:
    secret = maker.made("/api/status-links", {"name": "the manager", "site": maker.home})["secret"]
    return lambda: maker.api.ask("GET", "/api/status", None, headers={"X-Status-Link": secret}).status_code


def enrolment_code(maker: Maker) -> Later:
    code = maker.made(f"/api/clients/{maker.display}/enrolment", None)["code"]
    return lambda: maker.api.post("/api/enroll", None, json={"code": code}).status_code


def upload(maker: Maker) -> Later:
    tus = {"Tus-Resumable": "1.0.0", "Upload-Length": "3", "Upload-Metadata": "filename YS5wcHR4"}
    begun = maker.ask("POST", "/api/event-media/uploads", **tus).headers["Location"]
    part = {"Tus-Resumable": "1.0.0", "Upload-Offset": "0", "Content-Type": "application/offset+octet-stream"}
    return lambda: maker.ask("PATCH", begun, **part).status_code


def own_sight(maker: Maker) -> Later:
    return lambda: maker.ask("GET", f"/api/clients/{maker.display}").status_code


PLANS: Final[Mapping[str, tuple[Callable[[Maker], Later], Mapping[str, Any]]]] = {
    "a schedule that names the display": (
        lambda maker: schedule(maker, clients=[maker.display]),
        {"moved": NOT_THERE, "narrowed": NOT_THERE},
    ),
    "a schedule for the site": (
        lambda maker: schedule(maker, filter={"site": maker.home}),
        {"moved": "made", "narrowed": NOT_THERE},  # the site has another display
    ),
    "a command that waits for its display": (command, {}),
    "the next wave of a batch": (
        batch,
        dict.fromkeys(("moved", "narrowed"), ("aborted", "finished", NOT_THERE)),
    ),
    "a paused batch that an admin resumes": (
        lambda maker: batch(maker, is_paused=True),
        dict.fromkeys(("moved", "narrowed"), ("aborted", "finished", NOT_THERE)),
    ),
    "a quiet time that names the display": (
        lambda maker: quiet_time(maker, scope="clients", clients=[maker.display]),
        {"moved": False, "narrowed": False, "removed": False},
    ),
    "a quiet time of the site": (  # it belongs to the site, whose people see it and end it
        lambda maker: quiet_time(maker, scope="site", site=maker.home),
        {"moved": False},
    ),
    "a status link": (status_link, {}),  # it belongs to the site, as above
    "an enrolment code": (enrolment_code, {}),
    "an upload that is under way": (upload, {"moved": 204, "narrowed": 401}),
    "a session or a token": (own_sight, {"moved": 404}),
}
"""Plan -> how it is made, and what becomes of it after each event."""
OTHERWISE: Final[Mapping[str, Any]] = {
    "a schedule that names the display": MAY_NOT,
    "a schedule for the site": MAY_NOT,
    "a command that waits for its display": ("cancelled", "rights_lost"),
    "the next wave of a batch": ("aborted", "aborted", MAY_NOT),
    "a paused batch that an admin resumes": ("aborted", "aborted", MAY_NOT),
    "a quiet time that names the display": True,
    "a quiet time of the site": True,
    "a status link": 200,
    "an enrolment code": 422,
    "an upload that is under way": 401,
    "a session or a token": 401,
}
"""Plan -> what becomes of it after every other event."""
UNDISTURBED: Final[Mapping[str, Any]] = {
    "a schedule that names the display": "made",
    "a schedule for the site": "made",
    "a command that waits for its display": ("queued", None),
    "the next wave of a batch": ("accepted", "running", None),
    "a paused batch that an admin resumes": ("accepted", "running", None),
    "a quiet time that names the display": True,
    "a quiet time of the site": True,
    "a status link": 200,
    "an enrolment code": 201,
    "an upload that is under way": 204,
    "a session or a token": 200,
}


@pytest.fixture(scope="module")
def tick_engine(database_url: str) -> Iterator[Engine]:
    """The module's database, with the tick's production role."""
    with patient_engine(migrated.address_for("scheduler_tick", database_url)) as made:
        yield made


@pytest.fixture
def maker(api: Api, engine: Engine, tick_engine: Engine, configuration: Config) -> Maker:
    return Maker(api, engine, tick_engine, configuration)


@pytest.mark.parametrize("event", HAPPENS)
@pytest.mark.parametrize("plan", PLANS)
def test_a_plan_acts_by_the_rights_that_its_maker_has_then(maker: Maker, plan: str, event: str) -> None:
    known, happens = HAPPENS[event]
    makes, expected = PLANS[plan]
    known(maker)
    later = makes(maker)

    happens(maker)

    assert later() == expected.get(event, OTHERWISE[plan])


@pytest.mark.parametrize("known", [person, script])
@pytest.mark.parametrize("plan", PLANS)
def test_a_plan_acts_while_its_maker_keeps_the_rights(maker: Maker, plan: str, known: Callable[[Maker], None]) -> None:
    known(maker)

    assert PLANS[plan][0](maker)() == UNDISTURBED[plan]


def test_a_display_that_moves_away_while_its_wave_is_sent_gets_nothing(maker: Maker) -> None:
    person(maker)
    later, outcomes = batch(maker), []
    with maker.engine.begin() as connection:
        away = sa.update(clients).where(clients.c.uuid == maker.display).values(site=maker.away)
        connection.execute(away)
        sender = threading.Thread(target=lambda: outcomes.append(later()))
        sender.start()
        wait_until_somebody_waits(maker.engine)
    sender.join()

    assert outcomes == [("aborted", "finished", NOT_THERE)]


# --- who sees it and who ends it ---


def test_its_maker_ends_what_names_a_display_that_moved_away(maker: Maker) -> None:
    person(maker)
    both = {"clients": [maker.first, maker.display]}
    plan = maker.made("/api/schedules", planned(**both))["id"]
    hold = maker.made("/api/quiet-times", {**HOLD, "scope": "clients", **both})["id"]
    sent = maker.made("/api/commands", {"action": "restart_app", "waves": [1, "rest"], **both})["batch_id"]
    move(maker)

    answers = [
        maker.ask("DELETE", f"/api/schedules/{plan}").status_code,
        maker.ask("DELETE", f"/api/quiet-times/{hold}").status_code,
        maker.ask("POST", f"/api/command-batches/{sent}/abort").status_code,
    ]

    assert answers == [204, 204, 200]
    shown = maker.api.get(f"/api/command-batches/{sent}", "admin").get_json()
    assert (shown["state"], shown["outcomes"].get("waiting")) == ("aborted", None)


def test_an_operator_of_one_site_does_not_end_what_concerns_another_site(maker: Maker) -> None:
    person(maker)
    elsewhere = new_client(maker.engine, site=maker.second)
    plan = maker.made("/api/schedules", planned(clients=[maker.first, elsewhere]))["id"]

    other = token_for(maker.engine, Role.OPERATOR, [maker.home])

    assert maker.api.delete(f"/api/schedules/{plan}", token=other).status_code == 403


@pytest.mark.parametrize("scope", [{"scope": "fleet"}, {"scope": "tag", "tag": "window"}])
def test_an_operator_of_one_site_ends_nothing_that_covers_other_sites(maker: Maker, scope: dict[str, str]) -> None:
    """Although its maker has that site alone by now: unlike a list of displays it covers others all the same."""
    person(maker)
    account = f"/api/users/{maker.id}"
    assert maker.api.patch(account, "admin", json={"sites": None}).status_code == 200
    sign_in(maker)
    hold = maker.made("/api/quiet-times", {**HOLD, **scope})["id"]
    assert maker.api.patch(account, "admin", json={"sites": [maker.home]}).status_code == 200

    other = token_for(maker.engine, Role.OPERATOR, [maker.home])

    assert maker.api.delete(f"/api/quiet-times/{hold}", token=other).status_code in {403, 404}


def test_who_was_made_before_the_clock_was_set_back_commands_and_plans_on(maker: Maker) -> None:
    person(maker)
    made_later = (
        sa.update(users)
        .where(users.c.username == maker.name)
        .values(created_at=users.c.created_at + timedelta(hours=9))
    )
    with maker.engine.begin() as connection:
        connection.execute(made_later)

    command = maker.made(f"/api/clients/{maker.display}/commands", {"action": "restart_app"})
    with maker.tick.begin() as connection:
        commands.expire(connection, database_now(connection))
        state = connection.execute(
            sa.select(client_commands.c.state).where(client_commands.c.id == command["id"])
        ).scalar_one()

    assert state == "queued"


def test_the_answer_of_a_move_names_displays_that_are_left_alone_no_more(maker: Maker) -> None:
    person(maker)
    maker.made("/api/quiet-times", {**HOLD, "scope": "clients", "clients": [maker.first, maker.display]})
    one = f"/api/clients/{maker.display}"

    stays = maker.api.patch(one, json={"notes": "x"}).get_json()
    within = maker.api.patch(one, json={"site": maker.second}).get_json()
    cursor = maker.api.get("/api/monitoring/overview").get_json()["cursor"]
    moved = maker.api.patch(one, json={"site": maker.away}).get_json()
    since = maker.api.get("/api/monitoring/overview", query_string={"since": cursor}).get_json()
    many = maker.api.patch("/api/clients", json={"clients": [maker.first], "site": maker.away}).get_json()

    told = [answer["no_longer_quiet"] for answer in (stays, within, moved, many)]
    assert told == [False, False, True, [maker.first]]
    assert not since["full"]
    left_alone = {uuid for time in since["quiet_times"] for uuid in time["clients"]}
    assert (maker.first in left_alone, maker.display in left_alone) == (True, False)


def test_a_display_that_moved_away_is_not_promised_what_will_not_come(maker: Maker) -> None:
    person(maker)
    maker.made("/api/schedules", planned(clients=[maker.first, maker.display]))
    move(maker)

    listed = [
        maker.api.get(f"/api/clients/{uuid}/schedules").get_json()["items"] for uuid in (maker.first, maker.display)
    ]

    assert [len(items) for items in listed] == [1, 0]


def test_a_later_bearer_of_the_name_does_not_send_what_a_former_one_planned(maker: Maker) -> None:
    person(maker)
    later = schedule(maker, clients=[maker.display])
    remove(maker)
    with transaction(maker.engine) as connection:
        assert people_store.insert_user(connection, database_now(connection), maker.name, "", Role.ADMIN, False)

    assert later() == MAY_NOT


# --- a request whose rights change before it acts ---

slow = Routes("slow", "/slow", "What only this test calls.")


@slow.post("", role=Role.OPERATOR, bound=Bound.NONE)
def after_a_long_body(call: Call) -> None:
    """Act after an admin took the caller's rights; the header says how."""
    ways: dict[str, dict[str, Any]] = {"role": {"role": "viewer"}, "disabled": {"disabled_at": datetime.now(UTC)}}
    with call.services.engine.begin() as admin:
        admin.execute(
            sa.update(users).where(users.c.username == call.principal.name).values(**ways[call.request.headers["How"]])
        )
    with call.transaction():
        raise AssertionError("this acts in the name of somebody without rights")


@pytest.mark.parametrize("how", ["role", "disabled"])
def test_a_change_is_refused_when_the_rights_went_while_its_body_came(
    maker: Maker, services: Services, how: str
) -> None:
    person(maker)
    with transaction(maker.engine) as connection:
        everywhere = {"sites": None, "disabled_at": None}
        connection.execute(sa.update(users).where(users.c.username == maker.name).values(**everywhere))
    app = create_app(services, (slow,))

    answer = app.test_client(use_cookies=False).post("/slow", headers={**maker.headers, "How": how})

    assert answer.status_code == 401
    assert "rights_changed" in answer.get_data(as_text=True)
