"""Messages to people through channels: see docs/decisions/0018-incidents-by-place-and-moment.md."""
