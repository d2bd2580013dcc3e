"""Simulated displays that obey the whole display side of the MQTT contract (docs/protocol.md).

It is three things at once: what `make run DEMO=1` shows, a load source and a controllable display for
tests, and the reference for authors of display clients. Read it in this order:

    contract.py      the topics, their limits, and the shapes that travel on them
    state.py         what a display knows and decides: pure, `now` is an argument, no I/O at all
    journal.py       the last 256 command ids, on the disk before anything is acted on
    spool.py         numbered log messages, kept until the service says that they are committed
    log_sender.py    when the spool is sent, at what pace, and when it is sent again
    installation.py  the counter file: `install_id` and `boot_seq`
    outbox.py        ACKs and failure notices until the broker has taken them
    session.py       what the contract asks of an MQTT 5 session, in paho's terms
    link.py          that session kept up on an asyncio loop: presence and back-off
    display.py       all of it put together: one display
    simulated.py     `SimulatedDisplay`: the same display driven from an ordinary thread (tests)

and, for the demo only:

    credentials.py   what a display gets when it is enrolled, and the file it keeps that in
    enrolment.py     the HTTP calls that enrol it
    behaviours.py    who is called what, stands where, and misbehaves how: by a seed
    outage.py        the site that loses its network for a while
    __main__.py      N displays in one process on one event loop
"""
