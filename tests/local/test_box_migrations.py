"""The migrations as a box and the cloud run them: forward, and without preventing a return to an older image."""

import pytest
import sqlalchemy as sa
from sqlalchemy import Engine

from deploy.box import migrations
from shared.postgres.door import transaction

OF_A_LATER_IMAGE = "9999_of_a_later_image"


def test_a_database_ahead_of_this_code_is_left_as_it_is(
    database_url: str, engine: Engine, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DATABASE_URL", database_url)
    head = migrations.revision_of(engine)
    with transaction(engine) as connection:
        connection.execute(sa.text("UPDATE alembic_version SET version_num = :n"), {"n": OF_A_LATER_IMAGE})

    assert migrations.main() == 0

    assert migrations.revision_of(engine) == OF_A_LATER_IMAGE
    assert "ahead of this code" in capsys.readouterr().out
    with transaction(engine) as connection:
        connection.execute(sa.text("UPDATE alembic_version SET version_num = :n"), {"n": head})
    assert migrations.main() == 0
    assert migrations.revision_of(engine) == head
