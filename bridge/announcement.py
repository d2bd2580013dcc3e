"""Whether the database knows since when we listen: silence counts against a display only while somebody listened."""

from bridge.leader import Leader
from bridge.writes import LeadershipLost
from shared.leadership import store
from shared.postgres.door import database_now


class Announcement:
    """What `leader` told the database.

    Its methods raise DatabaseAway and LeadershipLost; after the first they may be called again.
    """

    def __init__(self, leader: Leader) -> None:
        self.is_made = False
        self._leader = leader

    def make(self) -> None:
        """The listening time begins now, by the database's clock."""
        with self._leader.database() as database, database.begin():
            if not store.connected(database, database_now(database), self._leader.epoch or 0):
                raise LeadershipLost
        self.is_made = True

    def take_back(self) -> None:
        """The listening time is over, whoever made the announcement."""
        self.is_made = False
        with self._leader.database() as database, database.begin():
            store.disconnected(database, self._leader.epoch or 0)
