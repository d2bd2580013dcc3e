"""A broker in virtual time with the rules on which commands and recovery rely.

Each rule was measured on a real broker; test_broker.py runs the same stories on both and compares. Histories do not use
what is missing here (wildcards except `+`, QoS 0 and 2).
"""

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import Final, Protocol

from tests.lab.simulation.agenda import Agenda

SUCCESS: Final = 0x00
NO_SUBSCRIBER: Final = 0x10
NOT_AUTHORIZED: Final = 0x87
KEEPALIVE_GRACE: Final = 1.5  # a silent client is dropped after this many keepalives
SAVED_EVERY: Final = 1.0  # autosave_interval: younger data are lost in a kill -9


@dataclass(eq=False)
class Message:
    """A message that is being delivered to one session."""

    topic: str
    payload: bytes
    expires_at: float | None
    is_retained: bool
    queued_at: float


@dataclass(frozen=True)
class Will:
    """The will of a client: published when its connection is lost."""

    topic: str
    payload: bytes
    delay: float


@dataclass(frozen=True)
class Rule:
    """Publishes that the broker drops: topics of these kinds, of these clients; None: all."""

    kinds: frozenset[str] | None
    uuids: frozenset[str] | None = None

    def drops(self, topic: str) -> bool:
        """Whether a message on this topic is dropped."""
        levels = topic.split("/")
        of_kind = self.kinds is None or levels[2] in self.kinds
        return of_kind and levels[1] != "service" and (self.uuids is None or levels[1] in self.uuids)


class Link(Protocol):
    """The other end of a connection."""

    is_cut: bool
    """Whether no packet passes, which neither side has noticed yet."""

    def deliver(self, message: Message) -> None: ...
    def lost(self, why: str) -> None: ...


@dataclass(eq=False)
class Session:
    """The state of one client id at the broker, connected or not."""

    client_id: str
    expiry: float
    link: Link | None = None
    will: Will | None = None
    filters: set[str] = field(default_factory=set)
    waiting: deque[Message] = field(default_factory=deque)
    unacknowledged: deque[Message] = field(default_factory=deque)
    connections: int = 0
    """Counts connects and losses, so that an outdated timer does nothing."""
    began_at: float = 0.0
    last_arrival: float = 0.0
    """When the last message arrives: messages of one connection stay in order."""


class SimulatedBroker:
    """Sessions by client id, and retained messages by topic."""

    def __init__(self, agenda: Agenda, latency: Callable[[], float]) -> None:
        """`latency` gives the seconds that a message takes to a client."""
        self.is_up = True
        self.muted: frozenset[str] = frozenset()  # kinds of topics (their last level) whose messages are dropped
        self.rules: list[Rule] = []  # for publishes of displays; messages to displays are never dropped
        self.refused: set[str] = set()  # revoked logins
        self.receive_maximum: int | None = None  # the most unanswered publishes of a client; None: any number
        self._agenda = agenda
        self._latency = latency
        self._sessions: dict[str, Session] = {}
        self._retained: dict[str, Message] = {}

    # --- what clients do ---

    def connect(self, client_id: str, link: Link, expiry: float, will: Will | None, *, clean: bool = False) -> bool:
        """CONNECT. Returns whether the session was kept. An older connection with the same id is ended."""
        session = self._sessions.get(client_id)
        if session is not None and session.link is not None:
            session.link.lost("taken over")
        if clean and session is not None:
            self._end(session)
            session = None
        found = session is not None
        if session is None:
            session = self._sessions[client_id] = Session(client_id, expiry, began_at=self._agenda.now)
        session.expiry, session.link, session.will = expiry, link, will
        session.connections += 1
        session.waiting = deque([*session.unacknowledged, *session.waiting])
        session.unacknowledged = deque()
        self._agenda.after(0.0, lambda: self._pump(session))
        return found

    def subscribe(self, client_id: str, filters: Iterable[str]) -> None:
        """SUBSCRIBE with QoS 1; only new subscriptions get retained messages."""
        session = self._sessions[client_id]
        for one in filters:
            if one not in session.filters:
                session.filters.add(one)
                kept = [message for topic, message in self._retained.items() if matches(one, topic)]
                session.waiting += [self._copy(message, is_retained=True) for message in kept]
        self._pump(session)

    def unsubscribe(self, client_id: str, filters: Iterable[str]) -> None:
        """UNSUBSCRIBE."""
        self._sessions[client_id].filters.difference_update(filters)

    def publish(self, topic: str, payload: bytes, expiry: float | None = None, *, retain: bool = False) -> int:
        """PUBLISH with QoS 1. Returns the reason code of the PUBACK."""
        if topic.rpartition("/")[2] in self.muted or any(rule.drops(topic) for rule in self.rules):
            return NOT_AUTHORIZED
        expires_at = None if expiry is None else self._agenda.now + expiry
        message = Message(topic, payload, expires_at, is_retained=False, queued_at=self._agenda.now)
        if retain:
            self._retained[topic] = message
        takers = [session for session in self._sessions.values() if any(matches(one, topic) for one in session.filters)]
        for session in takers:
            session.waiting.append(self._copy(message, is_retained=False))
            self._pump(session)
        return SUCCESS if takers else NO_SUBSCRIBER

    def acknowledge(self, client_id: str, message: Message) -> None:
        """PUBACK of a delivered message; one of an older connection is ignored."""
        session = self._sessions.get(client_id)
        if session is not None and message in session.unacknowledged:
            session.unacknowledged.remove(message)

    def disconnect(self, client_id: str, expiry: float | None = None) -> None:
        """DISCONNECT in order, without the will. `expiry` changes the session's expiry."""
        session = self._sessions.get(client_id)
        if session is None:
            return
        session.will = None
        session.expiry = session.expiry if expiry is None else expiry
        self._leave(session)

    def drop(self, client_id: str, link: Link) -> None:
        """Lose the connection without DISCONNECT; the will is published after its delay."""
        session = self._sessions.get(client_id)
        if session is not None and session.link is link:
            self._leave(session)

    def silent(self, client_id: str, link: Link, keepalive: float) -> None:
        """The client stops sending; the broker notices it after one and a half keepalives."""
        self._agenda.after(KEEPALIVE_GRACE * keepalive, lambda: self._drop_if_silent(client_id, link))

    def _drop_if_silent(self, client_id: str, link: Link) -> None:
        if link.is_cut:
            self.drop(client_id, link)

    # --- what happens to the broker ---

    def kill(self) -> None:
        """Kill -9: connections, wills and the changes of the last second are lost."""
        unsaved = self._agenda.now - SAVED_EVERY
        for session in list(self._sessions.values()):
            session.will = None
            for queue in (session.waiting, session.unacknowledged):
                kept = [message for message in queue if message.queued_at <= unsaved]
                queue.clear()
                queue.extend(kept)
        self._go_down()

    def crash(self, unsaved_seconds: float) -> None:
        """Like `kill`, but the last save was `unsaved_seconds` ago: sessions that began later are lost too."""
        unsaved = self._agenda.now - unsaved_seconds
        young = [session for session in self._sessions.values() if session.began_at > unsaved]
        for session in self._sessions.values():
            for queue in (session.waiting, session.unacknowledged):
                kept = [message for message in queue if message.queued_at <= unsaved]
                queue.clear()
                queue.extend(kept)
        self.kill()
        for session in young:
            self._end(session)

    def revoke(self, client_id: str) -> None:
        """Revoke the login: the client is disconnected and refused from now on."""
        self.refused.add(client_id)
        session = self._sessions.get(client_id)
        if session is not None and session.link is not None:
            link = session.link
            self._leave(session)
            link.lost("not authorised")

    def lets_in(self, client_id: str) -> bool:
        """Whether a client with this login could connect now."""
        return self.is_up and client_id not in self.refused

    def stop(self) -> None:
        """SIGTERM: publish every will at once, and save everything."""
        for session in list(self._sessions.values()):
            if session.will is not None:
                will, session.will = session.will, None
                self.publish(will.topic, will.payload, retain=True)
        self._go_down()

    def start(self) -> None:
        """Start with the saved state; the timers end expired sessions."""
        self.is_up = True

    def _go_down(self) -> None:
        self.is_up = False
        for session in list(self._sessions.values()):
            if session.link is not None:
                link = session.link
                self._leave(session)
                link.lost("the broker is gone")

    # --- internals ---

    def _leave(self, session: Session) -> None:
        """The client has gone: start the session's expiry and the will's delay."""
        session.link = None
        session.connections += 1
        count = session.connections
        if session.expiry <= 0:
            self._speak(session)
            self._end(session)
            return
        if session.will is not None:
            self._agenda.after(min(session.will.delay, session.expiry), lambda: self._speak_if(session, count))
        self._agenda.after(session.expiry, lambda: self._end_if(session, count))

    def _speak_if(self, session: Session, count: int) -> None:
        if session.connections == count:
            self._speak(session)

    def _speak(self, session: Session) -> None:
        will, session.will = session.will, None
        if will is not None:
            self.publish(will.topic, will.payload, retain=True)

    def _end_if(self, session: Session, count: int) -> None:
        if session.connections == count:
            self._end(session)

    def _end(self, session: Session) -> None:
        self._sessions.pop(session.client_id, None)

    def _pump(self, session: Session) -> None:
        """Deliver waiting messages that have not expired."""
        link = session.link
        while link is not None and session.waiting:
            message = session.waiting.popleft()
            if not self._is_over(message):
                session.unacknowledged.append(message)
                session.last_arrival = max(session.last_arrival, self._agenda.now + self._latency())
                self._agenda.at(session.last_arrival, partial(self._arrive, session, link, message))

    def _arrive(self, session: Session, link: Link, message: Message) -> None:
        if session.link is link and not link.is_cut and message in session.unacknowledged:
            link.deliver(message)

    def _is_over(self, message: Message) -> bool:
        return message.expires_at is not None and message.expires_at <= self._agenda.now

    def _copy(self, message: Message, *, is_retained: bool) -> Message:
        return Message(message.topic, message.payload, message.expires_at, is_retained, self._agenda.now)


@lru_cache(maxsize=65_536)
def matches(topic_filter: str, topic: str) -> bool:
    """Whether a topic filter, which may have `+`, matches this topic."""
    asked, given = topic_filter.split("/"), topic.split("/")
    return len(asked) == len(given) and all(one in {"+", level} for one, level in zip(asked, given, strict=True))
