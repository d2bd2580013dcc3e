"""What the first start creates for people and scripts."""

from pathlib import Path

from sqlalchemy import Connection

from deploy.parts import first_admin
from deploy.parts.layout import GATEWAY_KEY, SCRIPTS_KEY, Layout
from shared.access import audit_store, operations, store
from shared.access.rules import sealed
from shared.postgres.door import database_now
from shared.vocabulary import Role


def test_the_scripts_token_is_issued_once_and_stands_in_the_audit_log(connection: Connection, tmp_path: Path) -> None:
    layout = Layout(tmp_path)
    layout.secrets.mkdir()

    for _ in range(2):
        first_admin.ensure_token(connection, database_now(connection), layout)
    (layout.secrets / GATEWAY_KEY).unlink()  # as somebody who renews it does
    first_admin.ensure_token(connection, database_now(connection), layout)

    token = (layout.secrets / SCRIPTS_KEY).read_text(encoding="utf-8").strip()
    assert operations.principal_of_token(connection, token).role is Role.ADMIN
    assert token == sealed(token.rpartition(".")[0], layout.secret(GATEWAY_KEY))
    (issued,) = store.tokens_page(connection, 10, None)
    lines = [row for row in audit_store.page(connection, 10, None) if row.action == "token.create"]
    assert [(row.actor, row.target) for row in lines] == [("service", f"token:{issued.id}")]
