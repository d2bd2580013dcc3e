"""A release: `make release` builds and signs everything of it from one commit.

__main__.py   the command: checks, the files one after the other, sums, signature
images.py     the images for both processors, where an engine can build them
notes.py      the notes: this version's section of the changelog
prepare.py    before it, `make version`: the version and its day in the files that state them
sbom.py       the software bill of materials: CycloneDX, from the lock, the vendored parts and the Dockerfile

Two runs of one commit give the same bytes: every time in a file is the commit's, every order is fixed.
"""
