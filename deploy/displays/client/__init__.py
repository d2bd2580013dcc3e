"""What every client of a display needs, whatever the display is: the whole display side of docs/protocol.md.

The simulated fleet and the agent for real machines share it. Standard library and paho only: the agent's package
carries it. Read it in this order:

    contract.py      the topics, their limits, and the shapes that travel on them
    state.py         what a display knows and decides: pure, `now` is an argument, no I/O at all
    journal.py       the last 256 command ids, on the disk before anything is acted on
    durable.py       ways of writing that survive a power cut
    spool.py         numbered log messages, kept until the service says that they are committed
    log_sender.py    when the spool is sent, at what pace, and when it is sent again
    installation.py  the counter file: `install_id` and `boot_seq`
    credentials.py   what a display gets when it is enrolled, and the file it keeps that in
    outbox.py        ACKs and failure notices until the broker has taken them
    session.py       what the contract asks of an MQTT 5 session, in paho's terms
    link.py          that session kept up on an asyncio loop: presence and back-off
    client.py        all of it put together, but for the machine: the fleet simulates one, the agent has a real one
"""
