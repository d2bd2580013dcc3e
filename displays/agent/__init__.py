"""The agent: what runs beside the player on a Debian or Raspberry Pi OS machine. How to use it: docs/display-agent.md.

agent.py             the client's side of the contract (displays/client/) on a real machine
actions.py disk.py   what it does on command, and what it keeps on the disk
card.py              whether the disk gives back what it took
machine.py vitals.py the state of the machine and of its units, as the kernel and systemd report it
bus.py unit_rules.py systemd's units over D-Bus, and what their states mean
journald_*.py        journald as the spool: they number its lines, read them, and record which are committed
journalctl.py        runs journalctl
devtools.py glass*.py picture.py connectors.py
                     what the screen shows, from Chromium and the kernel, and whether that is a fault
screen_*.py          the screen's means: X11, Wayland or CEC
heal*.py             what a machine does that reaches neither broker nor gateway
helper.py asking.py  the root helper with its verbs, and its client
status.py doctor.py enrolment.py players.py settings.py notify.py __main__.py
the command `signage-display`
package/             the other files of the Debian package; `deploy/parts/display_package.py` builds it
"""
