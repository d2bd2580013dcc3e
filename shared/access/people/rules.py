"""Which admin may change which account, so that one admin always can sign in. Pure."""

from collections.abc import Collection

from shared.access.rules import Principal
from shared.errors import InvalidIdentity, LastAdmin, OwnAccount
from shared.vocabulary import PrincipalKind, Role

# 31 letters and digits that people do not confuse when they read a password aloud.
ONE_TIME_ALPHABET = "abcdefghjkmnpqrstuvwxyz23456789"
ONE_TIME_GROUPS, ONE_TIME_GROUP = 4, 4  # 79 bits


def one_time_password(letters: str) -> str:
    """Random letters as a password in groups."""
    return "-".join(letters[at : at + ONE_TIME_GROUP] for at in range(0, len(letters), ONE_TIME_GROUP))


def check_caller(caller: Principal, target: int, admins: Collection[int]) -> None:
    """Check that this admin may change the account of `target`. The admins of all sites are locked.

    Raises:
        InvalidIdentity: the caller is no longer an admin.
        OwnAccount: it is their own account.
    """
    if caller.kind is not PrincipalKind.USER:
        return
    if int(caller.id) not in admins:
        raise InvalidIdentity("no_admin_any_more")
    if int(caller.id) == target:
        raise OwnAccount


def check_somebody_stays(target: int, keyholders: Collection[int]) -> None:
    """Raises LastAdmin when `target` is the only keyholder: the only admin who can sign in by themselves."""
    if set(keyholders) == {target}:
        raise LastAdmin


def takes_the_key(role: Role, disabled: bool, sites: Collection[str] | None) -> bool:
    """Whether a person with this role is no admin of all sites, or is disabled."""
    return disabled or sites is not None or role is not Role.ADMIN
