"""Names of sites and tags in requests, and the sites that a person or token has rights for."""

from collections.abc import Collection, Iterable
from typing import Annotated

import msgspec
from sqlalchemy import Connection

from functions.api.folding import NAME
from shared.access.rules import MOST_SITES
from shared.sites import store

SiteName = Annotated[
    str, msgspec.Meta(min_length=1, max_length=100, description="as in the clients' `site`", extra=NAME)
]
AnySite = Annotated[str, msgspec.Meta(max_length=100, description="a site; empty for none", extra=NAME)]
Tag = Annotated[str, msgspec.Meta(min_length=1, max_length=64, extra=NAME)]
SearchText = Annotated[
    str, msgspec.Meta(max_length=200, description="part of name, uuid, site, hostname or IP", extra=NAME)
]
EmptySites = Annotated[list[str], msgspec.Meta(description="those of its sites at which no display is")]
Sites = Annotated[
    list[SiteName], msgspec.Meta(min_length=1, max_length=MOST_SITES, description="as in the clients' `site`")
]


def empty_sites(connection: Connection, rows: Iterable[Collection[str] | None]) -> list[list[str]]:
    """For each of these lists of sites (None: all), those at which no display is. One query for all."""
    named = [list(sites or ()) for sites in rows]
    empty = set(store.empty(connection, sorted({site for sites in named for site in sites})))
    return [[site for site in sites if site in empty] for sites in named]
