"""/api/dead-letters: messages from displays that were put aside instead of stored."""

from datetime import datetime
from typing import Annotated, Any

import msgspec

from functions.api.bodies import Answer, Uuid, answer_of
from functions.api.pages import Page, PageQuery, decode_cursor, page
from functions.api.routing import Bound, Call, Routes
from functions.api.shapes.clients import PutAsideFor
from shared.leadership import dead_letters_store as store
from shared.leadership.dead_letters_store import DeadLetterRow
from shared.leadership.rules import KEPT_DIFFERENT, NO_PAYLOAD, only_counted
from shared.vocabulary import Role
from shared.words.sentences import Sentence, as_given

routes = Routes("dead_letters", "/api/dead-letters", "Messages that were put aside, with the reason.")


class DeadLetter(Answer):
    """A message that was put aside; the same message came `count` times. `payload` is its first 4 KiB as text."""

    id: int
    topic: str
    reason: PutAsideFor
    detail: Sentence | None
    count: int
    first_at: datetime
    last_at: datetime
    payload: str
    payload_bytes: int
    sha256: str


class LetterQuery(PageQuery):
    """Which client's dead letters to list."""

    client: Annotated[Uuid, msgspec.Meta(description="only what this client sent")] | None = None


@routes.get("", role=Role.OPERATOR, bound=Bound.LISTS)
def list_dead_letters(call: Call, query: LetterQuery) -> Page[DeadLetter]:
    """Dead letters, the latest first. Bytes that are not UTF-8 are shown as backslash escapes."""
    after: Any = decode_cursor(query.cursor, datetime, int)
    with call.transaction() as (connection, _):
        rows = store.page(connection, query.limit + 1, after, query.client)
    return page(rows, query.limit, lambda row: (row.last_at, row.id), _shape)


def _shape(row: DeadLetterRow) -> DeadLetter:
    payload = row.payload.decode("utf-8", "backslashreplace")
    detail = None if row.detail is None else as_given(text=row.detail)
    counted = only_counted(limit=KEPT_DIFFERENT) if row.sha256 == NO_PAYLOAD else detail
    return answer_of(DeadLetter, row, payload=payload, detail=counted)
