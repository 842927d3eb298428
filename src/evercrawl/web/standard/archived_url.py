"""A URL inside the path of another, as web archives write it: everything behind the prefix, as it came."""

from __future__ import annotations

import re
from urllib.parse import unquote

from starlette.requests import Request

_ONE_SLASH = re.compile(r"^(https?):/+", re.IGNORECASE)
_ESCAPED = re.compile(r"^https?%3A", re.IGNORECASE)
STAMP = re.compile(r"(\d{4,14})(id_|mp_)?", re.ASCII)


def behind(request: Request, marker: str) -> str:
    """What stands behind the first `marker` in the path, with its query; escapes stay as they were sent."""
    raw: bytes = request.scope.get("raw_path") or request.url.path.encode()
    path = raw.partition(b"?")[0].decode("latin-1").encode("latin-1").decode("utf-8", "replace")
    found = path.partition(marker)[2]
    query = request.scope.get("query_string", b"").decode("utf-8", "replace")
    return repaired(found + (f"?{query}" if query else ""))


def repaired(url: str) -> str:
    """Proxies turn `http://` inside a path into `http:/`; some clients escape the whole URL once more."""
    if _ESCAPED.match(url):
        url = unquote(url, errors="replace")
    return _ONE_SLASH.sub(lambda match: f"{match[1].lower()}://", url)
