"""The document conversion service of one machine without Docker: Gotenberg's contract, the real LibreOffice.

Run with `python -m deploy.parts.converter`. One route of Gotenberg is spoken, with the same answers, so that
the worker cannot tell the difference: `POST /forms/libreoffice/convert` with one form field `files`.

    web.py      HTTP: the form is streamed to disk, refused early where it can be
    engine.py   one document at a time, in the order of arrival, from a bounded queue
    office.py   one pre-started LibreOffice process per document, on a private profile
    sandbox.py  bubblewrap: no network, nothing to see but programs, fonts and its own work folder
"""
