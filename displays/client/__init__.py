"""The display side of docs/protocol.md, for every kind of display.

The simulated fleet and the agent for real machines share it. It uses only the standard library and paho, because the
agent's package contains it. Read it in this order:

    contract.py      the topics, their limits, and the shapes of their messages
    state.py         the display's state and decisions: pure, `now` is an argument, no I/O
    journal.py       the last 256 command ids, written to the disk before the display acts
    durable.py       writing that survives a power cut
    spool.py         numbered log messages, kept until the service has committed them
    log_sender.py    when the spool is sent, how fast, and when it is sent again
    installation.py  the counter file: `install_id` and `boot_seq`
    credentials.py   the display's login from the enrolment, and its file
    outbox.py        ACKs and failure notices, kept until the broker has taken them
    session.py       the MQTT 5 session of the contract, by paho
    link.py          keeps that session up on an asyncio loop: presence and back-off
    hours.py         when the screen is meant to be on: pure
    screen.py        keeps the screen so, and the plan on the disk
    seen.py          which page is on the screen, as health reports tell it: pure
    look.py          how the screen may look, on the disk
    screenshots.py   pictures of the screen, kept in memory and sent by HTTPS
    client.py        all of these together, without the machine: the fleet simulates one, the agent has a real one
"""
