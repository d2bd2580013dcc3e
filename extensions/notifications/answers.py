"""The sentences about deliveries, in the answers about channels and notifications."""

from typing import Annotated, Any, Final

from extensions.notifications.deliveries.rules import UNSENT
from functions.api.shapes.sentences import codes_of, facts_of
from shared.outside.couriers.words import COURIERS
from shared.sentences import Coded, Phrases

DELIVERIES: Final = Phrases(UNSENT, COURIERS)


class DeliverySentence(Coded, frozen=True):
    """What a try to send a message came to, or why it was not sent."""

    code: Annotated[str, codes_of(DELIVERIES)]
    params: Annotated[dict[str, Any], facts_of(DELIVERIES)]
