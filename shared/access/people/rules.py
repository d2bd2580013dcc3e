"""Who may do what to whose account, so that there is always somebody who can let others in. Pure."""

from collections.abc import Collection

from shared.access.rules import Principal
from shared.errors import InvalidIdentity, LastAdmin, OwnAccount
from shared.vocabulary import PrincipalKind, Role

# Of these 31 letters and digits none looks like another one, so that a password can be read out.
ONE_TIME_ALPHABET = "abcdefghjkmnpqrstuvwxyz23456789"
ONE_TIME_GROUPS, ONE_TIME_GROUP = 4, 4  # 79 bits


def one_time_password(letters: str) -> str:
    """Random letters of the alphabet as people read them out: in groups."""
    return "-".join(letters[at : at + ONE_TIME_GROUP] for at in range(0, len(letters), ONE_TIME_GROUP))


def check_caller(caller: Principal, target: int, keyholders: Collection[int]) -> None:
    """May this admin change the account of `target`, now that nobody else can change who the keyholders are?

    Keyholders are the admins who can come in: with a password of their own, or by the word of a proxy.

    Raises:
        InvalidIdentity: the caller has been no admin any more since they were recognised.
        OwnAccount: it is their own account.
    """
    if caller.kind is not PrincipalKind.USER:
        return
    if int(caller.id) not in keyholders:
        raise InvalidIdentity("You are no admin any more; sign in again.")
    if int(caller.id) == target:
        raise OwnAccount


def check_somebody_stays(target: int, keyholders: Collection[int]) -> None:
    """Raises LastAdmin when `target` is the only keyholder."""
    if set(keyholders) == {target}:
        raise LastAdmin


def takes_the_key(role: Role, disabled: bool) -> bool:
    """Is somebody with this role, disabled or not, no admin?"""
    return disabled or role is not Role.ADMIN
