"""The first admin where people sign in by Identity-Aware Proxy."""

from datetime import timedelta

import pytest
from sqlalchemy import Engine

from deploy.box import first_person
from shared.access import operations
from shared.errors import PersonUnknown
from shared.postgres.door import database_now, transaction
from shared.vocabulary import Role


def test_the_first_person_is_an_admin_by_their_address_and_nobody_becomes_one_after(
    database_url: str, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATABASE_URL", database_url)

    assert first_person.main(["Ada@example.com"]) == 0
    assert first_person.main(["eve@example.com"]) == 1

    with transaction(engine) as connection:
        soon = database_now(connection) + timedelta(minutes=5)
        assert operations.principal_of_email(connection, "ada@example.com", soon).role is Role.ADMIN
        with pytest.raises(PersonUnknown):
            operations.principal_of_email(connection, "eve@example.com", soon)


@pytest.mark.parametrize("arguments", [[], ["ada"], ["a@b", "c@d"], ["a b@c"]])
def test_what_is_no_address_is_refused(arguments: list[str]) -> None:
    assert first_person.main(arguments) == 2
