"""The page takes a column of the packed overview for times by the column's name."""

import re
from typing import get_type_hints

from deploy.parts.layout import REPOSITORY
from functions.api.routes.monitoring import Ago, Packed, PackedHeartbeats

UNPACKS = (REPOSITORY / "dashboard" / "lib" / "packed.js").read_text(encoding="utf-8")


def test_the_page_knows_the_columns_of_times_by_their_names() -> None:
    columns = get_type_hints(Packed) | get_type_hints(PackedHeartbeats)
    ending = re.findall(r"const TIME = /(.*)/;", UNPACKS)[0]

    times = {name for name, kind in columns.items() if kind == list[Ago]}
    assert len(times) > 5
    assert {name for name in columns if re.search(ending, name)} == times
