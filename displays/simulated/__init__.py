"""Simulated displays that follow the display side of the MQTT contract (docs/protocol.md).

`make run DEMO=1` shows them; benches use them as load, tests as controllable displays. `displays/client/` is the
client; this package simulates the machine around it:

    display.py       one display: simulated power, player and network around the client
    simulated.py     `SimulatedDisplay`: the same display driven from an ordinary thread (tests)

and, for the demo only:

    enrolment.py     the HTTP calls that enrol a display
    behaviours.py    names, sites and faults of the displays, by a seed
    outage.py        a site that loses its network for a while
    __main__.py      N displays in one process on one event loop
"""
