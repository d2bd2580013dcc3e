"""SQL on the moments at which displays told of lost connections; clients/reports/store writes them."""

from datetime import datetime, timedelta
from typing import Final

import sqlalchemy as sa
from sqlalchemy import Connection

from shared.tables import client_losses

KEPT: Final = timedelta(days=1)


def drop_before(connection: Connection, before: datetime) -> int:
    """Forget the losses before then; how many rows that were."""
    return connection.execute(sa.delete(client_losses).where(client_losses.c.at < before)).rowcount
