"""The document conversion service of one machine without Docker: Gotenberg's contract, the real LibreOffice.

Run with `python -m deploy.parts.converter`. It has one route of Gotenberg, with the same answers, so that the worker
can use either: `POST /forms/libreoffice/convert` with one form field `files`.

    web.py      HTTP: streams the form to disk, and refuses it before the body if possible
    engine.py   converts one document at a time, in the order of arrival, from a bounded queue
    office.py   one pre-started LibreOffice process per document, with its own profile
    sandbox.py  bubblewrap: no network, and no files but programs, fonts and the document's own folder
"""
