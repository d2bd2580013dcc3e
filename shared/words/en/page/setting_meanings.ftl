### What each setting means, by its name, in the reader's language; the English is the server's own (`shared/config.py`).

