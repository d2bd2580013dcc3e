"""A check for authors of display clients: `python -m deploy.displays.conformance --uuid UUID`.

It stands between one client and the broker (`tap.py`), writes down what passes (`record.py`), provokes what seldom
happens by itself (`exercise.py`), and holds what it saw against sentences of docs/protocol.md (`rules.py` and the
`judge_*.py` beside it).
"""
