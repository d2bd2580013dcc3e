"""Simulated displays that obey the whole display side of the MQTT contract (docs/protocol.md).

They are what `make run DEMO=1` shows, a load source, and controllable displays for tests. What every client needs
is in `deploy/displays/client/`; here stands the simulated machine around it:

    display.py       one display: power, player and network are simulated, the rest is the client
    simulated.py     `SimulatedDisplay`: the same display driven from an ordinary thread (tests)

and, for the demo only:

    enrolment.py     the HTTP calls that enrol it
    behaviours.py    who is called what, stands where, and misbehaves how: by a seed
    outage.py        the site that loses its network for a while
    __main__.py      N displays in one process on one event loop
"""
