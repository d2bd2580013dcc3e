"""The agent's own user. What root does in the folders of that user, it does with that user's rights."""

import contextlib
import errno
import os
import pwd
from collections.abc import Iterator
from typing import Final

USER: Final = "signage-display"


def account() -> pwd.struct_passwd:
    """The agent's user. Raises FileNotFoundError."""
    try:
        return pwd.getpwnam(USER)
    except KeyError:
        raise FileNotFoundError(errno.ENOENT, f"there is no user {USER}: install the package again") from None


@contextlib.contextmanager
def as_agent() -> Iterator[None]:
    """Let root act with the rights of the agent's user alone. Other users act as before. Raises OSError.

    So a link that an attacker left in the agent's folder leads root nowhere. The real user id stays root's: the agent's
    user can neither trace nor signal this process.
    """
    if os.geteuid() != 0:
        yield
        return
    user, groups, group = account(), os.getgroups(), os.getegid()
    try:
        os.setgroups([])
        os.setegid(user.pw_gid)
        os.seteuid(user.pw_uid)
        yield
    finally:
        os.seteuid(0)
        os.setegid(group)
        os.setgroups(groups)
