"""The agent: what runs beside the player on a Debian or Raspberry Pi OS machine. How to use it: docs/display-agent.md.

agent.py             the client's side of the contract (deploy/displays/client/) on a real machine
machine.py vitals.py what is known of the machine, and what the kernel says
bus.py unit_rules.py systemd's units over D-Bus, and what their states mean
journald_*.py        journald as the spool: numbering, reading, and how far it was committed
journalctl.py        how it is read
heal*.py             the machine that reaches nobody
helper.py asking.py  the root helper with its six verbs, and how it is asked
status.py doctor.py enrolment.py settings.py notify.py __main__.py
the command `signage-display`
package/             what else is in the Debian package; `deploy/parts/display_package.py` builds it
"""
