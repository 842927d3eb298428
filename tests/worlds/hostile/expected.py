"""The expected results of a crawl for every row of the catalogue, and our own rows."""

from __future__ import annotations

from typing import Any

from evercrawl.model.reason import Outcome, Reason

OTHERWISE = {
    "header-name-space": (Outcome.FETCHED, Reason.NEW, "the odd field is ignored, as the row allows"),
    "redirect-300-no-choice": (Outcome.ERROR, Reason.HTTP_ERROR, "not followed, and not a page either"),
    "link-to-huge-file": (Outcome.REJECTED, Reason.FILE_TYPE, "not asked for at all; see own-huge-file"),
    "ui-error-message": (Outcome.ERROR, Reason.SERVER_ERROR, "a 500 is an error, whatever its words"),
    "xml-entity-bomb-feed": (Outcome.FETCHED, Reason.NEW, "kept; read as a feed without its entities"),
    "xxe-parameter-entity": (Outcome.FETCHED, Reason.NEW, "kept; read as a sitemap without its entities"),
}
"""Rows with another outcome than the catalogue's, although its expectation holds."""
REASONS = {
    "slow-headers": Reason.TIMEOUT,
    "silence-after-accept": Reason.TIMEOUT,
    "silence-after-headers": Reason.TIMEOUT,
    "endless-body-no-length": Reason.BODY_TOO_LARGE,
    "endless-chunked": Reason.BODY_TOO_LARGE,
    "endless-headers": Reason.HEADERS_TOO_LARGE,
    "endless-status-line": Reason.HEADERS_TOO_LARGE,
    "trailer-flood": Reason.HEADERS_TOO_LARGE,
    "deflate-bomb": Reason.DECODED_TOO_LARGE,
    "zstd-bomb": Reason.COMPRESSION_RATIO,
    "html-100MB-one-text": Reason.BODY_TOO_LARGE,
    "header-bomb-many": Reason.HEADERS_TOO_LARGE,
    "length-too-long": Reason.INCOMPLETE,
    "length-not-number": Reason.INVALID_HTTP,
    "length-two-different": Reason.INVALID_HTTP,
    "length-huge-claimed": Reason.INCOMPLETE,
    "chunk-bad-size": Reason.INVALID_HTTP,
    "chunk-size-overflow": Reason.INVALID_HTTP,
    "chunked-but-plain": Reason.INCOMPLETE,
    "unknown-transfer-coding": Reason.INVALID_HTTP,
    "bad-status-line": Reason.INVALID_HTTP,
    "status-999": Reason.HTTP_ERROR,
    "status-0": Reason.INVALID_HTTP,
    "empty-reply": Reason.EMPTY_REPLY,
    "header-null-byte": Reason.INVALID_HTTP,
    "redirect-loop-self": Reason.REDIRECT_LOOP,
    "redirect-loop-two": Reason.REDIRECT_LOOP,
    "redirect-chain-1000": Reason.TOO_MANY_REDIRECTS,
    "redirect-bad-location": Reason.BAD_REDIRECT,
    "redirect-two-locations": Reason.REDIRECT,
    "redirect-https-to-http": Reason.REDIRECT,
    "redirect-offscope": Reason.OUT_OF_SCOPE,
    "redirect-robots-blocked": Reason.ROBOTS,
    "redirect-to-file": Reason.UNSUPPORTED_SCHEME,
    "redirect-to-data": Reason.UNSUPPORTED_SCHEME,
    "redirect-to-javascript": Reason.UNSUPPORTED_SCHEME,
    "redirect-to-dict": Reason.UNSUPPORTED_SCHEME,
    "redirect-to-ws": Reason.UNSUPPORTED_SCHEME,
    "port-blocked": Reason.BLOCKED_PORT,
    "429-seconds": Reason.SITE_PAUSED,
    "429-date": Reason.SITE_PAUSED,
    "429-float": Reason.SITE_PAUSED,
    "503-seconds": Reason.SITE_PAUSED,
    "503-date": Reason.SITE_PAUSED,
    "410": Reason.GONE,
    "range-unasked-206": Reason.UNEXPECTED_206,
    "416": Reason.HTTP_ERROR,
    "304-unasked": Reason.UNEXPECTED_304,
    "tls-not-yet-valid": Reason.TLS,
    "tls-wrong-host": Reason.TLS,
    "tls-sha1-signed": Reason.TLS,
    "tls-tls1.0-only": Reason.TLS,
    "plain-http-on-443": Reason.TLS,
    "robots-never-answers": Reason.ROBOTS_UNREACHABLE,
    "robots-crawl-delay-huge": Reason.THROTTLED,
    "idn-too-long-label": Reason.INVALID_URL,
    "url-port-0": Reason.INVALID_URL,
    "url-empty-host": Reason.OUT_OF_SCOPE,
    "url-1000-redirect-params": Reason.URL_TOO_LONG,
    "own-refresh-chain": Reason.NEW,
    "own-drip-body": Reason.TIMEOUT,
    "own-huge-file": Reason.BODY_TOO_LARGE,
    "own-redirect-to-ftp": Reason.UNSUPPORTED_SCHEME,
    "own-throttled": Reason.SITE_PAUSED,
    "own-not-found": Reason.NOT_FOUND,
    "own-self-signed": Reason.TLS,
    "own-robots-500": Reason.ROBOTS_UNREACHABLE,
    "own-closed-early": Reason.INCOMPLETE,
}
"""The reason of each row that is not a new page."""
TRUNCATED_IN_WARC = {
    Reason.BODY_TOO_LARGE: "length",
    Reason.HEADERS_TOO_LARGE: "length",
    Reason.INCOMPLETE: "disconnect",
    Reason.TIMEOUT: "time",
    Reason.INVALID_HTTP: "unspecified",
}
"""WARC-Truncated of rows with a response."""


def own(name: str, server: dict[str, Any], outcome: str) -> dict[str, Any]:
    group = {"own-self-signed": "tls", "own-robots-500": "robots"}.get(name, "own")
    return {"name": name, "group": group, "server": server, "outcome": outcome}


HEAD = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 1000\r\n\r\n"
OWN = [
    own("own-refresh-chain", {"pages": "/n -> /n+1", "by": "refresh"}, "fetched"),
    own("own-drip-body", {"steps": [{"send": HEAD}, {"drip": "x", "every_s": 10}]}, "error"),
    own("own-huge-file", {"link": "http://site.test/big", "headers": {}}, "truncated"),
    own("own-redirect-to-ftp", {"status": 302, "headers": {"Location": "ftp://x.test/"}}, "rejected"),
    own("own-throttled", {"status": 429, "headers": {"Retry-After": "120"}}, "deferred"),
    own("own-not-found", {"status": 404}, "error"),
    own("own-self-signed", {"tls": "self-signed"}, "error"),
    own("own-robots-500", {"status": 500}, "deferred"),
    own("own-closed-early", {"raw": HEAD + "short"}, "error"),
]
"""Always played, even without the catalogue."""
