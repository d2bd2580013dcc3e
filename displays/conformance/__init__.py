"""A check for authors of display clients: `python -m displays.conformance --uuid UUID`.

A proxy between one client and the broker (`tap.py`) records all messages (`record.py`), provokes rare situations
(`exercise.py`), and checks the record against sentences of docs/protocol.md (`checklist.py` and `judge_*.py`).
"""
