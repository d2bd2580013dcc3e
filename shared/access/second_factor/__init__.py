"""The code of an app on somebody's phone, asked for besides their password (RFC 6238)."""
