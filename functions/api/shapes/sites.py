"""The sites that a person or token has rights for, in requests."""

from typing import Annotated

import msgspec

from shared.access.rules import MOST_SITES

SiteName = Annotated[str, msgspec.Meta(min_length=1, max_length=100)]
Sites = Annotated[
    list[SiteName], msgspec.Meta(min_length=1, max_length=MOST_SITES, description="as in the clients' `site`")
]
