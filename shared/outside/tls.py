"""What our TLS clients trust: the same on every Python."""

import ssl


def trusting(only: str | None = None) -> ssl.SSLContext:
    """A client's context that trusts the system's authorities, or this one alone (PEM). Raises ValueError, OSError.

    Python 3.13 refuses authorities without a key usage and certificates without an authority's key. `openssl` makes
    such ones by default, so owners have them, and 3.11 takes them. Host name, time and signatures are checked as ever.
    """
    context = ssl.create_default_context(cadata=only)
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    return context
