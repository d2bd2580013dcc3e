"""Whole fleet histories in virtual time, through the rules and the SQL that production uses.

    python -m tests.lab.simulation --histories 1000 --seed 1

Read it in this order:

    agenda.py       the agenda of a history, and the clocks that show its time to the code under test
    broker.py       a broker with the measured rules of the real one (test_broker.py compares them)
    ailments.py     faults of a display
    conduct.py      ways in which a playing display breaks the contract
    disk.py         the data that a display keeps while its power is off
    display.py      a display: power, disk, ailments; it decides as the client does (displays/client/state.py)
    wire.py         a display's network and MQTT session
    gate.py         faults between the service and the database
    copies.py       a database that is restored from a copy, and a dead session that still holds the leader lock
    service.py      the service: the real bridge, the real tick, an operator; each can be away, slow or killed
    stories.py      the events of one history, by its seed
    faults.py       faults of the service in it
    people.py       actions of people in it
    misfits.py      in the wide world: displays that break the contract, go back in time, share a login
    outages.py      in the wide world: faults of the service
    ages.py         histories of days, which skip quiet times
    worlds.py       which kind of history belongs to a seed
    contract.py     what the contract lets recovery do, written from its text, without the rules of shared/recovery
    truth.py        which displays talk, which play, and which no command can help
    log_ledger.py   a ledger of the log lines of displays
    oracle.py       the judge: it knows the truth about each display, and asks the contract
    history.py      one history from beginning to end
    runs.py         many histories side by side, and their totals
    __main__.py     prints the figures and the seed of each breach
"""
