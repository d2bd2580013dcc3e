"""What people are told, by whom they asked to be told: see docs/decisions/0018-incidents-by-place-and-moment.md."""
