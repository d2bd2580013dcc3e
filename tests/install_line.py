"""The line that the dialog *Connect a display* shows; tests/browser/test_fleet.py holds it against the page."""


def install_line(url: str, code: str, digest: str = "") -> str:
    """The line; `digest` is the SHA-256 of the service's own CA."""
    if not digest:
        return f"i=$(mktemp) && {_fetched('$i', f'{url}/display/install.sh')} && sudo sh $i {url} {code}"
    ca = _fetched("$c", f"{url}/display/ca.pem", "-k ", "--no-check-certificate ")
    script = _fetched("$i", f"{url}/display/install.sh", "--cacert $c ", "--ca-certificate=$c ")
    checked = f'echo "{digest}  $c" | sha256sum -c --quiet'
    return f"c=$(mktemp) i=$(mktemp) && {ca} && {checked} && {script} && sudo sh $i {url} {code} --ca $c"


def _fetched(into: str, url: str, curls: str = "", wgets: str = "") -> str:
    curl, wget = f"curl -fsS {curls}-o {into} {url}", f"wget -nv {wgets}-O {into} {url}"
    return f"if command -v curl >/dev/null; then {curl}; else {wget}; fi"
