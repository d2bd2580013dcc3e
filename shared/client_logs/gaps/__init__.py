"""Numbers below which a mark waits, though their display does not have them any more."""
