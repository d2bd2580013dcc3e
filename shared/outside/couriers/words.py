"""What a try to send a message came to, as sentences. A receiver is a webhook's host or the name of a service."""

from typing import Final

from shared.sentences import Phrased, Phrases

COURIERS: Final = Phrases()


@COURIERS.phrase
def receiver_took(*, receiver: str) -> str:
    return f"{receiver} took it"


@COURIERS.phrase
def receiver_answered(*, receiver: str, status: int) -> str:
    return f"{status} from {receiver}"


@COURIERS.phrase
def receiver_gone(*, receiver: str, status: int) -> str:
    return f"{status} from {receiver}: the receiver says that this address is gone for good"


@COURIERS.phrase
def receiver_redirects(*, receiver: str, status: int) -> str:
    return f"{status} from {receiver}: it redirects, which is not followed"


@COURIERS.phrase
def receiver_forbidden() -> str:
    return "That address may not be notified from here: it is a machine's own, or a private one."


@COURIERS.phrase
def receiver_misspelt(*, receiver: str) -> str:
    return f"this is no address that {receiver} understands"


@COURIERS.phrase
def receiver_unknown(*, receiver: str) -> str:
    return f"the name {receiver} is not known"


@COURIERS.phrase
def receivers_server_unknown(*, receiver: str) -> str:
    return f"the server's name of {receiver} is not known"


@COURIERS.phrase
def receiver_untrusted(*, receiver: str) -> str:
    return f"the certificate of {receiver} is not trusted"


@COURIERS.phrase
def receiver_without_tls(*, receiver: str) -> str:
    return f"{receiver} does not speak TLS as expected"


@COURIERS.phrase
def receiver_without_tls_or_trust(*, receiver: str) -> str:
    return f"{receiver} does not speak TLS as expected, or its certificate is not trusted"


@COURIERS.phrase
def receiver_without_http(*, receiver: str) -> str:
    return f"{receiver} does not answer as HTTP"


@COURIERS.phrase
def receiver_slow(*, receiver: str) -> str:
    return f"{receiver} did not answer in time"


@COURIERS.phrase
def receiver_refused_connection(*, receiver: str) -> str:
    return f"{receiver} refuses the connection"


@COURIERS.phrase
def receiver_lost(*, receiver: str) -> str:
    return f"the connection to {receiver} broke"


@COURIERS.phrase
def proxy_refused(*, receiver: str, status: int) -> str:
    return f"the proxy (OUTBOUND_PROXY) answers {status} when it is asked for {receiver}"


@COURIERS.phrase
def proxy_silent(*, receiver: str) -> str:
    return f"the proxy (OUTBOUND_PROXY) does not answer when it is asked for {receiver}"


def proxy_fault(*, receiver: str, status: int | None) -> Phrased:
    """What is wrong with the proxy; `status`: its answer, None without one."""
    return proxy_silent(receiver=receiver) if status is None else proxy_refused(receiver=receiver, status=status)


@COURIERS.phrase
def receiver_did_not_take(*, receiver: str) -> str:
    return f"{receiver} did not take it"
