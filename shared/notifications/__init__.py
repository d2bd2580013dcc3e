"""What people are told, by whom they asked to be told: see docs/decisions/0024-notifications-to-people.md."""
