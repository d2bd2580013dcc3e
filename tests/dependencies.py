"""Check the installed packages for known vulnerabilities, by pip-audit with OSV. Part of `make check`.

    python -m tests.dependencies [--osv-url URL]

Exit code 0 without a known vulnerability, and if OSV cannot be reached; then a message tells it, and `make check`
continues. Exit code 1 for a known vulnerability, and if pip-audit failed. pip-audit reports "no known vulnerability"
also for packages that it could not look up. So the service must first name a well-known vulnerability, and each package
that was not audited is listed.
"""

import argparse
import json
import subprocess
import sys
from collections.abc import Sequence
from typing import Any, Final

import requests

OSV: Final = "https://api.osv.dev/v1/query"
PATIENCE_SECONDS: Final = 10
KNOWN: Final = {"package": {"name": "jinja2", "ecosystem": "PyPI"}, "version": "2.10"}  # its sandbox could be left
# Vulnerabilities that do not concern the product: id -> why, and when to check it again.
EXCEPTIONS: Final[dict[str, str]] = {}


def why_not(url: str) -> str | None:
    """Why the service at this address cannot be used; None if it can."""
    try:
        answer = requests.post(url, json=KNOWN, timeout=PATIENCE_SECONDS)
        answer.raise_for_status()
        known = answer.json()
    except (requests.RequestException, ValueError):
        return "the service is not reachable"
    if not isinstance(known, dict) or not known.get("vulns"):
        return "the service that answers knows no vulnerabilities"
    return None


def report(url: str) -> dict[str, Any] | None:
    """pip-audit's report on every installed package; None if it failed, after it printed why."""
    options = ["--local", "--vulnerability-service", "osv", "--osv-url", url, "--format", "json"]
    quiet = ["--progress-spinner", "off", "--timeout", str(PATIENCE_SECONDS)]
    ignored = [part for known in EXCEPTIONS for part in ("--ignore-vuln", known)]
    command = [sys.executable, "-m", "pip_audit", *options, *quiet, *ignored]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    try:
        found: dict[str, Any] = json.loads(done.stdout)
    except ValueError:
        print(f"pip-audit failed:\n{done.stderr[-3000:]}")
        return None
    return found


def main(arguments: Sequence[str]) -> int:
    """Audit the packages and print the result. Returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.dependencies")
    parser.add_argument("--osv-url", default=OSV, help="another service that speaks as OSV does")
    url = parser.parse_args(arguments).osv_url
    if (reason := why_not(url)) is not None:
        print(f"dependencies were not audited: {reason}")
        return 0
    found = report(url)
    if found is None:
        return 1
    packages = found["dependencies"]
    unasked = [f"{one['name']} ({one['skip_reason']})" for one in packages if "skip_reason" in one]
    bad = [one for one in packages if one.get("vulns")]
    for one in bad:
        for known in one["vulns"]:
            fixed = ", ".join(known["fix_versions"]) or "no version yet"
            print(f"{one['name']} {one['version']}: {known['id']}, mended in {fixed}")
    print(f"dependencies: {len(packages) - len(unasked)} audited, {len(bad)} with a known vulnerability")
    if unasked:
        print(f"dependencies that were not audited: {', '.join(unasked)}")
    return 1 if bad or len(unasked) == len(packages) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
