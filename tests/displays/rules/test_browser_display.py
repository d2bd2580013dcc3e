"""The client for browsers stays small, and has no inline code."""

import gzip

from deploy.parts.gateway import BROWSER_CLIENT

MOST_BYTES = 15 * 1024  # gzipped: all files that the browser fetches


def test_the_whole_client_stays_within_its_budget() -> None:
    files = [path for kind in ("js", "css", "html") for path in BROWSER_CLIENT.glob(f"*.{kind}")]

    assert {"client.js", "packets.js", "index.html"} <= {path.name for path in files}
    assert sum(len(gzip.compress(path.read_bytes(), 5)) for path in files) <= MOST_BYTES


def test_its_page_passes_a_policy_without_anything_inline() -> None:
    page = (BROWSER_CLIENT / "index.html").read_text(encoding="utf-8")

    assert "<style" not in page
    assert " style=" not in page
    assert page.count("<script") == page.count('<script type="module" src=') == 1
