"""Failing screens: the tick judges screens that are off."""

from datetime import datetime

from sqlalchemy import Connection

from shared.quiet import operations as quiet_times
from shared.recovery import screens_store
from shared.vocabulary import Quiet


def judge_off(connection: Connection, now: datetime) -> int:
    """Judge each screen that is off: it fails unless somebody planned it. Returns how many judgements changed.

    A quiet time of the screen or of recovery is a plan, and so are an operator's screen_off and the opening hours that
    the display keeps. After its shop opened, a screen has some minutes to come on.
    """
    if not screens_store.off(connection):
        return 0
    found = quiet_times.now_quiet(connection, now)
    ids = {*found.ids(Quiet.SCREEN, Quiet.RECOVERY), *found.opened_ids(Quiet.SCREEN)}
    return screens_store.judge_off(connection, now, sorted(ids))
