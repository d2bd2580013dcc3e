"""Which callers may tick, and the answers to all others."""

from urllib.parse import urlsplit

import pytest
from sqlalchemy import Engine

from deploy.parts import identity
from deploy.parts.probes import free_port
from deploy.parts.short_lived import DidNotStart
from tests.lab.campaigns.peers import ENDLESS, exchange, status_of
from tests.problem_documents import check_problem
from tests.rules.oidc_harness import EMAIL, FOREIGN, OURS
from tests.tick.conftest import Start, TickFunction
from tests.tick.world import last_tick, set_last_tick


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE"])
def test_only_post_ticks(expiring: TickFunction, engine: Engine, method: str) -> None:
    set_last_tick(engine, None)

    reply = expiring.call(method)

    check_problem(reply, 405, "method_not_allowed")
    assert reply.headers["Allow"] == "POST"
    assert last_tick(engine)["last_tick_at"] is None


@pytest.mark.parametrize("fault", ["none", "audience", "email", "issuer", "signature", "expired"])
def test_nobody_but_the_scheduler_ticks(expiring: TickFunction, engine: Engine, fault: str) -> None:
    set_last_tick(engine, None)
    tokens = {
        "none": "",
        "audience": identity.mint(OURS, "http://127.0.0.1:8082", EMAIL, expiring.issuer),
        "email": identity.mint(OURS, expiring.url, "someone@else.test", expiring.issuer),
        "issuer": identity.mint(OURS, expiring.url, EMAIL, "https://issuer.test"),
        "signature": identity.mint(FOREIGN, expiring.url, EMAIL, expiring.issuer),
        "expired": identity.mint(OURS, expiring.url, EMAIL, expiring.issuer, lifetime_seconds=-300),
    }

    reply = expiring.call(token=tokens[fault])

    check_problem(reply, 401, "unauthenticated")
    assert reply.headers["WWW-Authenticate"].startswith("Bearer")
    assert last_tick(engine)["last_tick_at"] is None


@pytest.mark.parametrize(("endless", "status"), ENDLESS)
def test_a_request_without_an_end_is_refused_before_it_is_read(
    expiring: TickFunction, endless: bytes, status: int
) -> None:
    port = urlsplit(expiring.url).port
    assert port is not None

    assert status_of(exchange(port, endless) or b"") == status


def test_a_function_without_its_settings_does_not_start_and_names_them(start: Start) -> None:
    with pytest.raises(DidNotStart, match="SCHEDULER_SERVICE_ACCOUNT"), start(SCHEDULER_SERVICE_ACCOUNT=""):
        pass


def test_without_a_database_the_answer_is_a_problem_document(start: Start) -> None:
    nowhere = f"postgresql://x:y@127.0.0.1:{free_port()}/nothing"

    with start(DATABASE_URL=nowhere) as function:
        reply = function.call()

    check_problem(reply, 503, "database_unavailable")
