"""Every cause for a decision, in one enum; `why`, `skipped`, reports and the docs print it."""

from __future__ import annotations

from enum import StrEnum


class Outcome(StrEnum):
    """What became of a URL, as `why` shows it."""

    QUEUED = "queued"
    FETCHED = "fetched"
    TRUNCATED = "truncated"
    UNCHANGED = "unchanged"
    DUPLICATE = "duplicate"
    DEFERRED = "deferred"
    REJECTED = "rejected"
    ERROR = "error"


class Reason(StrEnum):
    """The cause of an outcome. The text of each is in `REASON_TEXT`."""

    # the page was seen
    NEW = "new"
    CHANGED = "changed"
    SAME_CONTENT = "same_content"
    NOISE = "noise"
    NOT_MODIFIED = "not_modified"
    DUPLICATE = "duplicate"
    NEAR_DUPLICATE = "near_duplicate"
    CANONICAL = "canonical"
    MIRROR = "mirror"
    MOVED = "moved"
    SOFT_404 = "soft_404"
    BODY_TOO_LARGE = "body_too_large"
    DECODED_TOO_LARGE = "decoded_too_large"
    COMPRESSION_RATIO = "compression_ratio"
    # it waits
    WAITING = "waiting"
    SITE_PAUSED = "site_paused"
    SITE_DOWN = "site_down"
    THROTTLED = "throttled"
    ROBOTS_UNREACHABLE = "robots_unreachable"
    WITHHELD = "withheld"
    # it will not be asked for
    NOT_A_PAGE_URL = "invalid_url"
    SCHEME = "scheme"
    URL_TOO_LONG = "url_too_long"
    PORT_REFUSED = "port_refused"
    OUT_OF_SCOPE = "out_of_scope"
    TOO_DEEP = "too_deep"
    EXCLUDED = "excluded"
    NOT_INCLUDED = "not_included"
    FILTERED = "filtered"
    FILE_TYPE = "file_type"
    NOFOLLOW = "nofollow"
    ROBOTS = "robots"
    PRIVATE_ADDRESS = "private_address"
    REDIRECT_LOOP = "redirect_loop"
    TOO_MANY_REDIRECTS = "too_many_redirects"
    SITE_FULL = "site_full"
    TRAP = "trap"
    # it failed
    DNS = "dns"
    CONNECT = "connect"
    TLS = "tls"
    TIMEOUT = "timeout"
    RESET = "reset"
    EMPTY_REPLY = "empty_reply"
    INCOMPLETE = "incomplete"
    BAD_HTTP = "bad_http"
    HEADERS_TOO_LARGE = "headers_too_large"
    BAD_CODING = "bad_coding"
    BAD_REDIRECT = "bad_redirect"
    PARTIAL = "partial"
    UNEXPECTED_304 = "unexpected_304"
    HTTP_ERROR = "http_error"
    NOT_FOUND = "not_found"
    GONE = "gone"
    SERVER_ERROR = "server_error"
    INTERNAL = "internal"


REASON_TEXT: dict[Reason, str] = {
    Reason.NEW: "fetched for the first time",
    Reason.CHANGED: "fetched again, and its content differs from the version before",
    Reason.SAME_CONTENT: "fetched again, and its content is the same",
    Reason.NOISE: "fetched again, and nothing differs but clocks, counters, adverts, menus and the like",
    Reason.NOT_MODIFIED: "the server says that it is not modified (304)",
    Reason.DUPLICATE: "the same body was already stored under another URL",
    Reason.NEAR_DUPLICATE: "its main text says nearly what another page of the site says",
    Reason.CANONICAL: "the page names another page, which says the same, as its canonical form",
    Reason.MIRROR: "its site is a copy of another one, where the same page is known",
    Reason.MOVED: "the server sends us to another URL",
    Reason.SOFT_404: "the server says that all is well, and the page that there is no such page",
    Reason.BODY_TOO_LARGE: "the body was cut off at the limit for bytes on the wire",
    Reason.DECODED_TOO_LARGE: "the body was cut off at the limit for decoded bytes",
    Reason.COMPRESSION_RATIO: "the body was cut off because it unpacks to too many times its size",
    Reason.WAITING: "known and in the queue; not visited yet",
    Reason.SITE_PAUSED: "the site asked us to come back later (429, 503 or Retry-After)",
    Reason.SITE_DOWN: "the site cannot be reached or fails, and is left alone for a while",
    Reason.THROTTLED: "the server is slow or asks us to slow down",
    Reason.ROBOTS_UNREACHABLE: "robots.txt could not be read, so nothing of this site is asked for yet",
    Reason.WITHHELD: "its outpost did not send it: it changes at every visit, or robots.txt forbids it there",
    Reason.NOT_A_PAGE_URL: "not a URL that can name a page",
    Reason.SCHEME: "only http and https are crawled (or a scheme with a handler)",
    Reason.URL_TOO_LONG: "the URL is longer than the limit",
    Reason.PORT_REFUSED: "the port belongs to another protocol",
    Reason.OUT_OF_SCOPE: "outside the scope of this collection",
    Reason.TOO_DEEP: "more links away from a seed than the depth allows",
    Reason.EXCLUDED: "matches an exclude pattern",
    Reason.NOT_INCLUDED: "matches no include pattern",
    Reason.FILTERED: "a filter says no",
    Reason.FILE_TYPE: "images, styles, scripts, archives and media are not fetched unless asked for",
    Reason.NOFOLLOW: "the page asks not to follow this link",
    Reason.ROBOTS: "robots.txt forbids it",
    Reason.PRIVATE_ADDRESS: "the host's address is private, loopback, link-local or otherwise not public",
    Reason.REDIRECT_LOOP: "the redirects lead back to where they began",
    Reason.TOO_MANY_REDIRECTS: "more redirects in a row than the limit",
    Reason.SITE_FULL: "the site has reached its limit of pages",
    Reason.TRAP: "it leads to nothing new, by its form or by what such URLs of its site have brought",
    Reason.DNS: "the host name could not be resolved",
    Reason.CONNECT: "no connection could be made",
    Reason.TLS: "the TLS connection or the certificate is not valid",
    Reason.TIMEOUT: "the server took longer than the time limit",
    Reason.RESET: "the connection broke during the answer",
    Reason.EMPTY_REPLY: "the server closed the connection without an answer",
    Reason.INCOMPLETE: "the answer ended before its announced length",
    Reason.BAD_HTTP: "the answer is not valid HTTP",
    Reason.HEADERS_TOO_LARGE: "the answer's headers are larger than the limit",
    Reason.BAD_CODING: "the body could not be unpacked",
    Reason.BAD_REDIRECT: "the redirect names no URL that can be followed",
    Reason.PARTIAL: "the server sent a part (206) that was not asked for",
    Reason.UNEXPECTED_304: "the server said 304 although no condition was sent",
    Reason.HTTP_ERROR: "the server answered with an error status",
    Reason.NOT_FOUND: "the server says that there is no such page (404)",
    Reason.GONE: "the server says that the page is gone (410)",
    Reason.SERVER_ERROR: "the server had an error of its own (5xx)",
    Reason.INTERNAL: "a defect in evercrawl; the details are in the log",
}
