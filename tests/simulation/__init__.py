"""Whole fleet histories in virtual time, through the rules and the SQL that production uses.

    python -m tests.lab.simulation --histories 1000 --seed 1

Read it in this order:

    agenda.py       the agenda of a history, and the clocks that show its time to the code under test
    broker.py       a broker that obeys the measured rules of the real one (held to it by test_broker.py)
    ailments.py     what can be wrong with a display
    conduct.py      how one breaks the contract although it plays
    disk.py         what it keeps while its power is off
    display.py      a display: power, disk, what ails it; decisions are the reference client's (demo_fleet/state.py)
    wire.py         its network and MQTT session
    gate.py         what can go wrong between our side and the database
    copies.py       a copy of the database that is put back, and a session that is dead and holds the lead
    service.py      our side: the real bridge, the real tick, an operator; each can be away, slow or killed
    stories.py      what happens in one history, by its seed
    faults.py       and what goes wrong on our side
    people.py       and what people do
    misfits.py      in the wide world: displays that break the contract, go back in time, share a login
    outages.py      and what goes wrong there on our side
    ages.py         histories of days, in which time is leapt over
    worlds.py       which kind of history a seed tells
    contract.py     what the contract lets recovery do, written from its text; no rule of shared/recovery
    truth.py        who talks, who works, whom no command can help
    log_ledger.py   the ledger of what displays logged
    oracle.py       the judge: knows the truth of each display, and asks the contract
    history.py      one history from beginning to end
    runs.py         many of them side by side, and what they come to
    __main__.py     prints the figures and the seed of each breach
"""
