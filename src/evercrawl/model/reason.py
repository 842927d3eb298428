"""Every reason for a decision, in one enum; `why`, `skipped`, reports and the docs print it."""

from __future__ import annotations

from enum import StrEnum


class Outcome(StrEnum):
    """The result for a URL, as `why` shows it."""

    QUEUED = "queued"
    FETCHED = "fetched"
    TRUNCATED = "truncated"
    UNCHANGED = "unchanged"
    DUPLICATE = "duplicate"
    DEFERRED = "deferred"
    REJECTED = "rejected"
    ERROR = "error"


class Reason(StrEnum):
    """The reason for an outcome; `REASON_TEXT` explains each."""

    # fetched
    NEW = "new"
    CHANGED = "changed"
    SAME_CONTENT = "same_content"
    NOISE = "noise"
    NOT_MODIFIED = "not_modified"
    DUPLICATE = "duplicate"
    NEAR_DUPLICATE = "near_duplicate"
    CANONICAL = "canonical"
    MIRROR = "mirror"
    REDIRECT = "redirect"
    SOFT_404 = "soft_404"
    NEEDS_BROWSER = "needs_browser"
    BODY_TOO_LARGE = "body_too_large"
    DECODED_TOO_LARGE = "decoded_too_large"
    COMPRESSION_RATIO = "compression_ratio"
    PARSE_LIMIT = "parse_limit"
    # waiting
    WAITING = "waiting"
    SITE_PAUSED = "site_paused"
    SITE_DOWN = "site_down"
    THROTTLED = "throttled"
    ROBOTS_UNREACHABLE = "robots_unreachable"
    WITHHELD = "withheld"
    LOCAL = "local"
    SIGNED_OUT = "signed_out"
    LOST_TEXT = "lost_text"
    # rejected
    INVALID_URL = "invalid_url"
    UNSUPPORTED_SCHEME = "unsupported_scheme"
    URL_TOO_LONG = "url_too_long"
    BLOCKED_PORT = "blocked_port"
    OUT_OF_SCOPE = "out_of_scope"
    TOO_DEEP = "too_deep"
    EXCLUDED = "excluded"
    NOT_INCLUDED = "not_included"
    FILTERED = "filtered"
    FILE_TYPE = "file_type"
    DYNAMIC = "dynamic"
    EXCLUDED_HOST = "excluded_host"
    REMOVED = "removed"
    MEDIA_TYPE = "media_type"
    SIZE = "size"
    LANGUAGE = "language"
    DATE = "date"
    KEYWORDS = "keywords"
    NOFOLLOW = "nofollow"
    ROBOTS = "robots"
    PRIVATE_ADDRESS = "private_address"
    REDIRECT_LOOP = "redirect_loop"
    TOO_MANY_REDIRECTS = "too_many_redirects"
    SITE_PAGE_LIMIT = "site_page_limit"
    TRAP = "trap"
    LOGOUT = "logout"
    # failed
    DNS = "dns"
    CONNECT = "connect"
    TLS = "tls"
    PROXY = "proxy"
    TIMEOUT = "timeout"
    RESET = "reset"
    EMPTY_REPLY = "empty_reply"
    INCOMPLETE = "incomplete"
    RENDERING = "rendering"
    INVALID_HTTP = "invalid_http"
    HEADERS_TOO_LARGE = "headers_too_large"
    BAD_CONTENT_ENCODING = "bad_content_encoding"
    BAD_REDIRECT = "bad_redirect"
    UNEXPECTED_206 = "unexpected_206"
    UNEXPECTED_304 = "unexpected_304"
    HTTP_ERROR = "http_error"
    NOT_FOUND = "not_found"
    GONE = "gone"
    SERVER_ERROR = "server_error"
    INTERNAL = "internal"


REASON_TEXT: dict[Reason, str] = {
    Reason.NEW: "fetched for the first time",
    Reason.CHANGED: "fetched again; the content has changed",
    Reason.SAME_CONTENT: "fetched again; the content is the same",
    Reason.NOISE: "fetched again; only clocks, counters, adverts, menus and the like differ",
    Reason.NOT_MODIFIED: "not modified since the last visit (304)",
    Reason.DUPLICATE: "the same content is already stored under another URL",
    Reason.NEAR_DUPLICATE: "the main text is nearly the same as that of another page of the site",
    Reason.CANONICAL: "the page names another page with the same content as its canonical URL",
    Reason.MIRROR: "the site mirrors another one, where this page is known",
    Reason.REDIRECT: "the server redirects to another URL",
    Reason.SOFT_404: "the server answers 200, but the page is an error page",
    Reason.NEEDS_BROWSER: "the page shows its content only with scripts, and there is no browser to run them",
    Reason.BODY_TOO_LARGE: "the body was cut off at the limit for bytes on the wire",
    Reason.DECODED_TOO_LARGE: "the body was cut off at the limit for decoded bytes",
    Reason.COMPRESSION_RATIO: "the body was cut off because it decompresses to too many times its size",
    Reason.PARSE_LIMIT: "the page is stored, but reading or comparing it took too long or failed; parts may be missing",
    Reason.WAITING: "in the queue, not visited yet",
    Reason.SITE_PAUSED: "the site asked us to come back later (429, 503 or Retry-After)",
    Reason.SITE_DOWN: "the site cannot be reached or keeps failing; it is tried again later",
    Reason.THROTTLED: "the server is slow or asks us to slow down",
    Reason.ROBOTS_UNREACHABLE: "robots.txt could not be read, so no page of this site is requested yet",
    Reason.WITHHELD: "its outpost keeps it back for now: it changes at every visit, or robots.txt forbids it",
    Reason.LOCAL: "this machine ran out of open files or sockets; the page is tried again",
    Reason.SIGNED_OUT: "the session on this site has ended, so its pages wait until you sign in again",
    Reason.LOST_TEXT: "the page has lost nearly all of its text; it is fetched again to see whether it is gone",
    Reason.INVALID_URL: "not a valid page URL",
    Reason.UNSUPPORTED_SCHEME: "only http and https are crawled, and schemes with a plugin",
    Reason.URL_TOO_LONG: "the URL is longer than the limit",
    Reason.BLOCKED_PORT: "the port belongs to another protocol",
    Reason.OUT_OF_SCOPE: "outside the scope of this collection",
    Reason.TOO_DEEP: "more links away from a seed than the depth allows",
    Reason.EXCLUDED: "matches an exclude pattern",
    Reason.NOT_INCLUDED: "matches no include pattern",
    Reason.FILTERED: "rejected by a filter",
    Reason.FILE_TYPE: "images, styles, scripts, archives and media are skipped unless scope.fetch_types lists them",
    Reason.DYNAMIC: "a program makes this page, and scope.dynamic_pages is off",
    Reason.EXCLUDED_HOST: "scope.exclude_hosts lists the host, so nothing is requested from it",
    Reason.REMOVED: "you removed the page or its site, so it is not requested again",
    Reason.MEDIA_TYPE: "the response has a media type that is not kept",
    Reason.SIZE: "the page is smaller or larger than the sizes to keep",
    Reason.LANGUAGE: "the page is in a language that is not kept",
    Reason.DATE: "the page is older or newer than the dates to keep",
    Reason.KEYWORDS: "the page has none of the keywords, or an excluded one",
    Reason.NOFOLLOW: "the link or its page is marked nofollow, and scope.follow_nofollow is off",
    Reason.ROBOTS: "robots.txt forbids it",
    Reason.PRIVATE_ADDRESS: "the host's address is private, loopback, link-local or otherwise not public",
    Reason.REDIRECT_LOOP: "the redirects form a loop",
    Reason.TOO_MANY_REDIRECTS: "more redirects in a row than the limit",
    Reason.SITE_PAGE_LIMIT: "the site has reached its page limit",
    Reason.TRAP: "part of a crawler trap, judged by its URL or by what similar URLs returned",
    Reason.LOGOUT: "the link logs out, and the site is crawled signed in",
    Reason.DNS: "the host name could not be resolved",
    Reason.CONNECT: "the connection failed",
    Reason.TLS: "the TLS connection or the certificate is not valid",
    Reason.PROXY: "the proxy cannot be reached or refuses the request",
    Reason.TIMEOUT: "the server took longer than the time limit",
    Reason.RESET: "the connection broke during the response",
    Reason.EMPTY_REPLY: "the server closed the connection without a response",
    Reason.INCOMPLETE: "the response ended before its announced length",
    Reason.RENDERING: "the browser could not render the page, which shows its content only with scripts",
    Reason.INVALID_HTTP: "the response is not valid HTTP",
    Reason.HEADERS_TOO_LARGE: "the response headers are larger than the limit",
    Reason.BAD_CONTENT_ENCODING: "the body could not be decompressed",
    Reason.BAD_REDIRECT: "the redirect has no URL that can be followed",
    Reason.UNEXPECTED_206: "the server sent a partial response (206) to a full request",
    Reason.UNEXPECTED_304: "the server answered 304 to an unconditional request",
    Reason.HTTP_ERROR: "the server answered with an error status",
    Reason.NOT_FOUND: "the page does not exist (404)",
    Reason.GONE: "the page is gone (410)",
    Reason.SERVER_ERROR: "the server had an internal error (5xx)",
    Reason.INTERNAL: "a bug in evercrawl; see the log for details",
}

GONE_REASONS = frozenset({Reason.NOT_FOUND, Reason.GONE, Reason.SOFT_404})  # Reasons of visits to missing pages.
RefusalReason = tuple[Reason, str]  # Why a URL is refused, with the evidence.
