"""A kept statement is planned for its values each time, but those that say that one plan serves all."""

import pytest
import sqlalchemy as sa
from sqlalchemy import Engine
from sqlalchemy.exc import DBAPIError, ProgrammingError

from shared.postgres import kept_statements
from shared.postgres.door import reading, transaction
from shared.postgres.prepared import PreparingConnection
from tests.stores.prepared_world import add, echo, planned_once, plans, word_of


def test_a_kept_statement_is_planned_for_its_values_each_time(with_things: Engine) -> None:
    """Otherwise Postgres takes one plan for all after five runs: the wrong one for a rare level or one week."""
    with transaction(with_things) as connection:
        for number in range(12):
            word_of(connection, number)

        assert plans(connection, "things") == (0, 12)


def test_a_statement_that_says_so_is_planned_once_and_the_others_still_each_time(with_things: Engine) -> None:
    with transaction(with_things) as connection:
        add(connection, 1)
        for number in range(1, 13):
            assert planned_once(connection, number) == 7 // number
            assert word_of(connection, number) == ("one" if number == 1 else None)

        assert plans(connection, "planned once") == (12, 0)
        assert plans(connection, "SELECT word FROM things") == (0, 12)


def test_one_plan_is_made_anew_after_a_while(with_things: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    with transaction(with_things) as connection:
        add(connection, 1)
        for number in range(1, 4):
            planned_once(connection, number)
        assert plans(connection, "planned once") == (3, 0)

        monkeypatch.setattr(kept_statements, "PLAN_SECONDS", -1.0)
        planned_once(connection, 4)

        assert plans(connection, "planned once") == (1, 0)  # of the one that took its place


def test_the_mode_is_set_only_where_it_changes_or_an_error_may_have_taken_it_back(
    with_things: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    with transaction(with_things) as connection:
        add(connection, 1)
    sent: list[int] = []
    sending = PreparingConnection._send

    def send(self: PreparingConnection, data: bytes) -> None:
        sent.append(data.count(b"SET plan_cache_mode"))
        sending(self, data)

    monkeypatch.setattr(PreparingConnection, "_send", send)
    with reading(with_things) as connection:
        echo(connection, 1)
        echo(connection, 1)
        for divisor in (2, 1):
            planned_once(connection, divisor)
        with pytest.raises(ProgrammingError):
            planned_once(connection, 0)
        planned_once(connection, 1)
        echo(connection, 1)

    assert sent == [0, 0, 1, 0, 0, 1, 1]


@pytest.mark.parametrize("where", ["in a transaction", "by itself", "in a savepoint"])
def test_when_it_fails_the_others_are_planned_each_time_again(with_things: Engine, where: str) -> None:
    with transaction(with_things) as connection:
        add(connection, 1)
        planned_once(connection, 1)

    if where == "in a savepoint":
        with transaction(with_things) as connection:
            with pytest.raises(ProgrammingError), connection.begin_nested():
                planned_once(connection, 0)
            assert (
                connection.execute(sa.text("SELECT current_setting('plan_cache_mode')")).scalar_one()
                == "force_custom_plan"
            )
    else:
        with (
            pytest.raises(ProgrammingError),
            (reading if where == "by itself" else transaction)(with_things) as connection,
        ):
            planned_once(connection, 0)

    with transaction(with_things) as connection:
        assert (
            connection.execute(sa.text("SELECT current_setting('plan_cache_mode')")).scalar_one() == "force_custom_plan"
        )
        assert planned_once(connection, 7) == 1


def test_a_commit_that_is_refused_takes_the_mode_back_too(with_things: Engine) -> None:
    """What is checked at the end fails there: the server is in the mode of before the transaction again."""
    with transaction(with_things) as connection:
        connection.execute(sa.text("ALTER TABLE things ADD UNIQUE (word) DEFERRABLE INITIALLY DEFERRED"))
        add(connection, 1)

    def refused() -> None:
        with transaction(with_things) as connection:
            planned_once(connection, 1)
            add(connection, 2)
            planned_once(connection, 1)

    with pytest.raises(DBAPIError, match="things_word_key"):
        refused()
    with reading(with_things) as connection:
        planned_once(connection, 1)
        assert connection.execute(sa.text("SHOW plan_cache_mode")).scalar_one() == "force_generic_plan"
