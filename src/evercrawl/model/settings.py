"""Every setting with its default, unit and one sentence of help. `0` never means "no limit"; `None` does."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any


def setting(default: Any, text: str, *, needs_trust: bool = False) -> Any:
    """Return a field with the help text that `config` and the reference show.
    `needs_trust`: it names code, files or machines, so that it is ignored in a collection that is not trusted."""
    if isinstance(default, (list, dict)):
        raise TypeError("defaults are immutable")
    return field(default=default, metadata={"help": text, "needs_trust": needs_trust})


def _seconds(value: float) -> timedelta:
    return timedelta(seconds=value)


@dataclass(frozen=True, slots=True)
class IdentitySettings:
    """Who we are to the sites we visit."""

    product: str = setting("evercrawl", "Product token: first word of the user agent and our name in robots.txt.")
    user_agent: str = setting(
        "plain",
        "Form of the user agent. plain: `evercrawl/1.0 (+contact)`; compatible: `Mozilla/5.0 (compatible; evercrawl/1.0; "
        "+contact)`; browser: that of Chrome, with our name and contact at its end. All of them say who we are.",
    )
    contact: str | None = setting(
        None, "Mail address or web page where site owners can reach you. Sent with every request."
    )
    signature_key: str | None = setting(
        None,
        "File with the private key that signs requests to sites with TLS (Web Bot Auth), so that they can tell that they are yours; see `evercrawl signature`.",
        needs_trust=True,
    )
    signature_agent: str | None = setting(
        None,
        "URL of your key directory, sent with signed requests: https://HOST/.well-known/http-message-signatures-directory.",
        needs_trust=True,
    )


@dataclass(frozen=True, slots=True)
class ScopeSettings:
    """Which URLs belong to the collection."""

    seeds: tuple[str, ...] = setting((), "URLs where the crawl starts.")
    kind: str = setting(
        "host",
        "host: the seeds' hosts; prefix: below the seeds' folders; domain: the seeds' domains with all subdomains; "
        "list: only the seeds.",
    )
    pages: tuple[str, ...] = setting((), "Seeds of which only the page itself is crawled, whatever scope.kind says.")
    page_weight: float = setting(
        400.0,
        "How much a current copy of such a page counts, compared to 1 for others: 400 visits it about 20 times as often. "
        "So do up to 100 pages of scope.kind list.",
    )
    sections: tuple[str, ...] = setting((), "Seeds of which only the folder is crawled, whatever scope.kind says.")
    max_depth: int | None = setting(None, "Maximum number of links away from a seed; none: no limit.")
    include: tuple[str, ...] = setting((), "Regular expressions. If there are any, a URL must match one of them.")
    exclude: tuple[str, ...] = setting((), "Regular expressions. A URL that matches one is rejected.")
    filter: str | None = setting(
        None, "Filter expression, such as: domain(example.org) and not prefix(https://example.org/old/)."
    )
    plugins: tuple[str, ...] = setting((), "Your own filters, as module:object.", needs_trust=True)
    fetch_types: tuple[str, ...] = setting(
        (), "Types of files to fetch besides pages: image, style, script, font, archive, media, document."
    )
    media_types: tuple[str, ...] = setting(
        (), "Media types to keep, such as text/html, application/pdf or image/*; empty: pages and fetch_types."
    )
    exclude_media_types: tuple[str, ...] = setting((), "Media types not to keep, such as application/json or text/*.")
    min_bytes: int | None = setting(None, "Minimum size of a page to keep; none: no limit.")
    max_bytes: int | None = setting(None, "Maximum size of a page to keep; none: no limit.")
    languages: tuple[str, ...] = setting((), "Languages to keep, such as en or pt-BR; empty: all.")
    newer_than: str | None = setting(None, "Keep pages dated after this: 2026-01-01, or 30d for the last 30 days.")
    older_than: str | None = setting(None, "Keep pages dated before this: 2026-01-01, or 30d.")
    keywords: tuple[str, ...] = setting(
        (), "Keep pages with one of these words in URL, title or text. url:, title: or text: in front: only there."
    )
    exclude_keywords: tuple[str, ...] = setting(
        (), "Do not keep pages with one of these words, written as in keywords."
    )
    follow_rejected: bool = setting(True, "Follow the links of pages that are fetched but not kept.")
    dynamic_pages: bool = setting(
        True,
        "Fetch dynamic pages. If off, URLs with a query, in /cgi-bin/, or ending in .cgi, .pl and the like are skipped.",
    )
    exclude_hosts: tuple[str, ...] = setting((), "Hosts never to request, with all their subdomains.")
    exclude_hosts_file: str | None = setting(None, "File with more such hosts, one per line.", needs_trust=True)
    removed: tuple[str, ...] = setting(
        (), "Pages (URLs) and sites (origins) that were removed and are never requested; see `evercrawl remove`."
    )
    access_log: str | None = setting(
        None,
        "Access log of a web server, or a file with lines `URL COUNT`: pages requested often come first.",
        needs_trust=True,
    )
    follow_nofollow: bool = setting(False, "Follow links that are marked nofollow.")
    max_url_length: int = setting(2048, "Maximum length of a URL in characters.")
    max_pages_per_site: int | None = setting(None, "Maximum number of pages per site; none: no limit.")


@dataclass(frozen=True, slots=True)
class SiteSettings:
    """Settings of one site or URL pattern, as [site."news.example.org"]. They replace those of [scope]; none: as there."""

    pattern: str = ""  # A host with its subdomains, or the beginning of URLs; `*` stands for any text.
    priority: int | None = setting(None, "Queue levels by which its pages move up, or down if negative, from -8 to 8.")
    weight: float | None = setting(None, "How much a current copy of its pages counts, compared to 1 for others.")
    max_depth: int | None = setting(None, "Maximum number of links away from a seed.")
    max_pages: int | None = setting(None, "Maximum number of pages per site.")
    exclude: tuple[str, ...] | None = setting(None, "More regular expressions. A URL that matches one is rejected.")
    media_types: tuple[str, ...] | None = setting(None, "Media types to keep.")
    exclude_media_types: tuple[str, ...] | None = setting(None, "Media types not to keep.")
    min_bytes: int | None = setting(None, "Minimum size of a page to keep.")
    max_bytes: int | None = setting(None, "Maximum size of a page to keep.")
    languages: tuple[str, ...] | None = setting(None, "Languages to keep.")
    newer_than: str | None = setting(None, "Keep pages dated after this.")
    older_than: str | None = setting(None, "Keep pages dated before this.")
    keywords: tuple[str, ...] | None = setting(None, "Keep pages with one of these words.")
    exclude_keywords: tuple[str, ...] | None = setting(None, "Do not keep pages with one of these words.")
    follow_rejected: bool | None = setting(None, "Follow the links of pages that are fetched but not kept.")
    dynamic_pages: bool | None = setting(None, "Fetch dynamic pages.")
    render: str | None = setting(None, "Which pages to render: auto, never or always.")
    schedule: str | None = setting(
        None, "When to visit its pages: every 10 minutes, daily at 06:30 Europe/Berlin, weekdays at 9. None: learned."
    )


@dataclass(frozen=True, slots=True)
class PaceSettings:
    """How fast each site is crawled."""

    mode: str = setting(
        "gentle",
        "gentle: one request at a time, with a delay that follows the response time; paper: a delay of at least 10 s; "
        "unlimited: no delay, only for your own hosts.",
        needs_trust=True,
    )
    delay: timedelta | None = setting(None, "Minimum delay per site in every mode; none: the default of the mode.")
    min_delay: timedelta = setting(_seconds(1), "Minimum delay in mode gentle.")
    max_delay: timedelta = setting(
        _seconds(60), "Maximum delay because of slow responses or failures; a Crawl-delay may be longer."
    )
    response_time_factor: float = setting(10.0, "The delay is at least this many times the last response time.")
    unlimited_concurrency: int = setting(
        8, "Most concurrent requests per site in mode unlimited; a slow or failing site gets fewer."
    )
    sites_per_address: float = setting(
        10.0, "Sites behind one IP address together get at most this many times the rate of one site."
    )
    overrides: tuple[str, ...] = setting(
        (), "Minimum delays, each as `SITE DELAY`: set on the page of a site or with `evercrawl pace slow`."
    )


@dataclass(frozen=True, slots=True)
class CrawlSettings:
    """Limits of one run."""

    concurrency: int = setting(64, "Maximum number of concurrent requests over all sites.")
    workers: int = setting(
        1,
        "Number of worker processes. Each has its own shards; the sites of one domain share a worker.",
        needs_trust=True,
    )
    max_pages: int | None = setting(10_000, "Stop after this many pages in one run; none: no limit.")
    max_time: timedelta | None = setting(None, "Stop after this time; none: no limit.")
    max_bytes: int | None = setting(None, "Stop after this many bytes on the wire; none: no limit.")
    idle_timeout: timedelta = setting(
        _seconds(60), "How long a run waits while every remaining site is paused or closed. Then it ends."
    )
    retry_timeout: timedelta = setting(
        _seconds(10), "How long a run that is done otherwise waits for the next try of failed pages."
    )
    shutdown_timeout: timedelta = setting(
        _seconds(10), "How long requests in flight may continue after the first Ctrl-C."
    )


@dataclass(frozen=True, slots=True)
class HttpSettings:
    """Limits of one request. Each of them ends the request with its own reason."""

    connect_timeout: timedelta = setting(_seconds(10), "Time to connect, including TLS.")
    first_byte_timeout: timedelta = setting(_seconds(20), "Time from the request to the first byte of the response.")
    idle_timeout: timedelta = setting(_seconds(15), "Longest pause within a response.")
    total_timeout: timedelta = setting(_seconds(60), "Time for the whole response.")
    max_wire_bytes: int = setting(16 * 1024 * 1024, "Maximum size of a body on the wire; the rest is cut off.")
    max_decoded_bytes: int = setting(32 * 1024 * 1024, "Maximum size of a decoded body; the rest is cut off.")
    max_compression_ratio: float = setting(
        200.0, "Maximum number of decoded bytes per byte on the wire, checked after the first decoded megabyte."
    )
    max_header_bytes: int = setting(512 * 1024, "Maximum size of the status line and headers.")
    max_headers: int = setting(10_000, "Maximum number of header fields.")
    max_redirects: int = setting(10, "Maximum number of redirects in a row.")
    keep_alive_timeout: timedelta = setting(_seconds(30), "How long an idle connection stays open.")
    allow_private: bool = setting(False, "Allow loopback, private and link-local addresses.", needs_trust=True)
    resolve: tuple[str, ...] = setting(
        (), "HOST:PORT:ADDR: use this address for the host and port, as in curl.", needs_trust=True
    )
    allow_ports: tuple[int, ...] = setting((), "Ports of other protocols that are allowed.", needs_trust=True)
    ca_file: str | None = setting(None, "File with additional certificate authorities (PEM).", needs_trust=True)
    verify_tls: bool = setting(True, "Reject invalid certificates.", needs_trust=True)
    accept_language: str | None = setting(None, "Accept-Language header; none: not sent.")
    keep_cookies: str = setting(
        "signed-in",
        "Whose cookies are kept until the next run. signed-in: of sites with credentials; all: of every site, which are "
        "sent back to it; none: of no site, so that each run signs in again.",
    )


@dataclass(frozen=True, slots=True)
class DnsSettings:
    """Name resolution."""

    servers: tuple[str, ...] = setting((), "Name servers; empty: those of the system.", needs_trust=True)
    timeout: timedelta = setting(_seconds(5), "Time for one lookup.")
    attempts: int = setting(2, "Attempts per lookup.")
    min_ttl: timedelta = setting(_seconds(60), "Minimum time an answer is cached.")
    max_ttl: timedelta = setting(_seconds(86_400), "Maximum time an answer is cached.")
    negative_ttl: timedelta = setting(_seconds(300), "How long a failed lookup is cached.")
    cache_entries: int = setting(50_000, "Maximum number of names in the cache.")
    concurrency: int = setting(50, "Maximum number of concurrent lookups.")


@dataclass(frozen=True, slots=True)
class RobotsSettings:
    """How robots.txt is read."""

    forbid_on_403: bool = setting(True, "If robots.txt answers 401 or 403, request nothing from the site.")
    max_age: timedelta = setting(_seconds(86_400), "Maximum age of a copy before it is fetched again.")
    retry_delay: timedelta = setting(
        _seconds(300), "Delay between attempts if robots.txt stays unreachable. It doubles, up to a day."
    )
    unreachable_timeout: timedelta = setting(
        timedelta(days=30), "If robots.txt is unreachable for this long, assume that there is none."
    )
    max_bytes: int = setting(512 * 1024, "Maximum number of bytes of robots.txt to read.")
    max_redirects: int = setting(5, "Maximum number of redirects of robots.txt.")
    max_crawl_delay: timedelta = setting(_seconds(60), "A longer Crawl-delay is shortened to this.")
    tdmrep: bool = setting(
        False,
        "Also read /.well-known/tdmrep.json, in which sites may reserve text and data mining; needs sitemaps.enabled.",
    )


@dataclass(frozen=True, slots=True)
class FrontierSettings:
    """The queues."""

    priorities: int = setting(9, "Number of priority levels (front queues).")
    window: int = setting(64, "Pages of one site that are in memory, and that are visited before the next site's turn.")
    back_queues: int | None = setting(
        None, "Sites that have a back queue at the same time; none: three per concurrent request."
    )


@dataclass(frozen=True, slots=True)
class UrlSeenSettings:
    """The check whether a URL is already known."""

    cache_entries: int = setting(2**18, "URLs in the cache of popular URLs, over all shards.")
    filter_bytes: int = setting(
        256 * 1024 * 1024, "Maximum memory for the filter of known URLs, over all shards. It grows by 2 bytes per URL."
    )


@dataclass(frozen=True, slots=True)
class StoreSettings:
    """State on disk or in a database."""

    url: str | None = setting(
        None,
        "postgresql://user@host/database: keep the state there, for any number of machines; none: keep it in files.",
        needs_trust=True,
    )
    shards: int = setting(64, "Number of shards. Fixed when the collection is created.")
    lease_timeout: timedelta = setting(
        _seconds(30), "With url: a worker without a heartbeat for this long is considered dead. Others take its shards."
    )
    reconnect_timeout: timedelta = setting(
        _seconds(600), "With url: how long a worker waits for an unreachable database before it ends."
    )
    commit_interval: timedelta = setting(_seconds(1), "Time between two commits of a shard.")
    commit_pages: int = setting(500, "Commit earlier if this many visits are waiting.")
    durability: str = setting(
        "power", "power: committed data survives a power failure; process: only kill -9, without syncing to the disk."
    )
    cache_bytes: int = setting(64 * 1024 * 1024, "SQLite page cache over all open shards.")
    max_refusals_per_shard: int = setting(
        1_000_000, "Maximum number of rejected URLs that a shard stores. More are only counted."
    )


@dataclass(frozen=True, slots=True)
class ArchiveSettings:
    """WARC files."""

    max_file_bytes: int = setting(1_000_000_000, "Start a new file when one reaches this size.")
    gzip_level: int = setting(1, "gzip level, 0 to 3.")
    url: str | None = setting(
        None,
        "s3://bucket/prefix?endpoint=https://... or file:///path: upload finished files there, and read files from "
        "there that are not stored locally; none: keep them local.",
        needs_trust=True,
    )
    max_upload_bytes: int = setting(64 * 1024 * 1024, "With url: start a new file when one reaches this size.")
    upload_interval: timedelta = setting(_seconds(30), "With url: start a new file when one reaches this age.")
    acknowledge: str = setting(
        "local",
        "When a page counts as stored. local: its record is on the local disk; uploaded: its record is at url, so "
        "commits wait for uploads (only with the state in a database).",
    )
    keep_local: bool = setting(True, "With url: keep the local file after its upload.")


@dataclass(frozen=True, slots=True)
class ParseSettings:
    """Limits per document."""

    max_links: int = setting(20_000, "Maximum number of links per page.")
    max_anchor_chars: int = setting(300, "Maximum length of an anchor text.")
    max_title_chars: int = setting(1000, "Maximum length of a title.")
    max_text_chars: int = setting(2_000_000, "Maximum length of the main text.")
    max_cpu_time: timedelta = setting(
        _seconds(20),
        "CPU time to parse a PDF, a file of another handler or a large page; then the text so far is kept.",
    )
    max_memory_bytes: int = setting(
        2 * 1024**3, "Memory to parse one of these; if it needs more, its text is not kept."
    )


@dataclass(frozen=True, slots=True)
class ChangeSettings:
    """What counts as a change of a page."""

    detector: str = setting(
        "meaning",
        "meaning: what a reader would call a change; text: the main text differs; bytes: anything differs; "
        "paper-ascii-count: the sum of the byte values differs.",
    )


@dataclass(frozen=True, slots=True)
class RevisitSettings:
    """When pages are visited again."""

    policy: str = setting(
        "optimal",
        "optimal: the most freshness per request; or a rule by name: uniform, fixed, paper-adaptive, "
        "paper-selective, paper-pdfc, paper-sitemap, nutch, stormcrawler.",
    )
    selective_threshold: float = setting(
        0.4, "paper-selective: first share of a page's links that must have changed to visit an unchanged page."
    )
    selective_step: float = setting(0.5, "paper-selective: largest part by which one turn moves that threshold.")
    budget: float | None = setting(None, "Maximum number of requests per day; none: no limit.")
    site_budget: float | None = setting(None, "Maximum number of requests per day to one site; none: no limit.")
    min_freshness_gain: timedelta = setting(
        timedelta(hours=6), "Without a budget: visit a page when that gains this much time with a current copy."
    )
    min_interval: timedelta = setting(timedelta(hours=1), "Minimum interval between two visits to a page.")
    max_interval: timedelta = setting(timedelta(days=60), "Maximum interval between two visits to a page.")
    jitter: float = setting(0.1, "Vary each interval randomly by this fraction.")
    unconditional_share: float = setting(
        0.08, "Fraction of visits without If-None-Match and If-Modified-Since, to detect wrong validators."
    )
    quiet_hours: tuple[str, ...] = setting((), "Hours (UTC) without requests, such as 22:00-06:00.")


@dataclass(frozen=True, slots=True)
class CreditSettings:
    """Which pages are visited first: links pass credit, and the page with the most credit is next."""

    order: str = setting(
        "credit",
        "credit: pages with the most credit first; breadth-first: pages near the seeds first; paper-credit: the page "
        "with the most credit of all, one at a time, exactly as paper D says.",
    )
    importance_exponent: float = setting(
        0.5, "How much importance counts for revisits: weight = importance ** exponent; 0: all pages count the same."
    )
    writes_per_visit: int = setting(2, "Known pages whose credit is stored per visit, largest gains first.")
    buffer_entries: int = setting(2**18, "Credit updates buffered in memory, over all shards.")


@dataclass(frozen=True, slots=True)
class DuplicateSettings:
    """Pages with the content of another page."""

    near_duplicates: bool = setting(True, "Detect pages whose main text is nearly the same as another page's.")
    similarity: float = setting(0.9, "Minimum similarity of two texts, 0 to 1, to count as near-duplicates.")
    mirrors: bool = setting(True, "Detect sites that mirror another site, and do not visit their pages again.")
    revisit_weight: float = setting(0.25, "Value of a visit to a duplicate, compared to one to the original.")


@dataclass(frozen=True, slots=True)
class SitemapSettings:
    """Sitemaps and feeds of the sites."""

    enabled: bool = setting(True, "Read the sitemaps and feeds of sites.")
    probe_after_pages: int = setting(
        1, "Ask for /sitemap.xml after this many pages of a site, if robots.txt names no sitemap."
    )
    extended: str = setting(
        "named",
        "When to ask for the extended sitemap (?XTND) first. named: of the sitemap that robots.txt names; always: also of "
        "/sitemap.xml, as paper-sitemap does; never.",
    )
    llms_txt: str = setting(
        "named",
        "When to read /llms.txt, whose links come early. named: if robots.txt or a page near the start names it; always; never.",
    )
    max_files: int = setting(200, "Maximum number of sitemaps to read per site at a time.")
    max_bytes: int = setting(50 * 1024 * 1024, "Maximum size of one sitemap.")


@dataclass(frozen=True, slots=True)
class AlertSettings:
    """How alerts are delivered."""

    enabled: bool = setting(True, "Send alerts while a crawl runs.")
    check_interval: timedelta = setting(_seconds(5), "How often to check for changes to report.")
    delivery_timeout: timedelta = setting(_seconds(20), "Time for one delivery attempt.")
    first_retry_delay: timedelta = setting(_seconds(10), "Delay after the first failed attempt. It doubles each time.")
    max_retry_delay: timedelta = setting(timedelta(hours=1), "Maximum delay between two attempts.")
    retry_timeout: timedelta = setting(
        timedelta(days=7), "Give up on a message after this time, so that later messages can be sent."
    )
    keep_log: timedelta = setting(timedelta(days=30), "How long sent messages stay in the log.")
    quiet_hours: tuple[str, ...] = setting(
        (), "Hours (UTC) without messages, such as 22:00-06:00, for alerts without their own quiet hours."
    )
    mail_host: str | None = setting(None, "Mail server; none: alerts cannot use mail.", needs_trust=True)
    mail_port: int = setting(587, "Port of the mail server.", needs_trust=True)
    mail_tls: str = setting(
        "starttls",
        "starttls: upgrade the connection to TLS; tls: TLS from the start; off: no encryption.",
        needs_trust=True,
    )
    mail_user: str | None = setting(None, "User name for the mail server; none: no login.", needs_trust=True)
    mail_password_file: str | None = setting(
        None, "File with the password. Without it, EVERCRAWL_MAIL_PASSWORD is used.", needs_trust=True
    )
    mail_from: str | None = setting(None, "Sender address; none: identity.contact.", needs_trust=True)


@dataclass(frozen=True, slots=True)
class FocusSettings:
    """Focused crawls."""

    window: int = setting(1000, "Queued pages of one site that are ranked by relevance at the same time.")


@dataclass(frozen=True, slots=True)
class DiscoverySettings:
    """Guessed URLs, to find pages that nothing links to."""

    parent_folders: int = setting(0, "Number of parent folders of each page to request, nearest first.")
    neighbour_numbers: int = setting(
        0, "Number of pages before and after each numbered page to request, such as page 6 and 8 for page 7."
    )


@dataclass(frozen=True, slots=True)
class AnalysisSettings:
    """Analysers that run on each new version."""

    analysers: tuple[str, ...] = setting(
        (), "Analysers by name: language, sentiment, paper-sentiment, or your own as module:object.", needs_trust=True
    )


@dataclass(frozen=True, slots=True)
class TrapSettings:
    """Crawler traps: endless URLs without new content."""

    enabled: bool = setting(True, "Detect crawler traps. If off, only your own rules apply.")
    min_pages: int = setting(60, "Known pages of a site before its URL patterns are judged.")
    max_probed_patterns: int = setting(20, "Maximum number of patterns per site and run to probe with made-up URLs.")
    rule_sets: tuple[str, ...] = setting(
        (), "Rules for common software: forums, wikis, shops, calendars, blogs, code, listings."
    )
    exclude: tuple[str, ...] = setting(
        (), "Excluded patterns, as `PATTERN` or `SITE PATTERN`. `evercrawl trap exclude` writes them."
    )
    allow: tuple[str, ...] = setting((), "Allowed patterns, whatever trap detection says.")


@dataclass(frozen=True, slots=True)
class OutpostSettings:
    """Agents that run near sites and send only what changed."""

    listen: str | None = setting(
        None,
        "HOST:PORT where paired outposts reach this collection while it crawls; none: outposts are off.",
        needs_trust=True,
    )
    lease_timeout: timedelta = setting(
        _seconds(120), "How long a silent outpost keeps its sites before the crawler takes them over."
    )
    start_timeout: timedelta = setting(
        _seconds(10), "How long a run waits for an outpost at its start before it visits the sites itself."
    )
    resend_interval: timedelta | None = setting(
        timedelta(hours=6), "Minimum time before a page that changes at every visit is sent again; none: each time."
    )
    cache_bytes: int = setting(
        1024 * 1024 * 1024, "Responses kept at the coordinator, so that outposts can send differences."
    )


@dataclass(frozen=True, slots=True)
class RenderSettings:
    """Rendering of pages with a browser."""

    mode: str = setting(
        "auto",
        "auto: render pages that show little without scripts, and pages like those to which scripts added something; "
        "never; always: render every page.",
    )
    screenshots: bool = setting(True, "Keep a screenshot of each version of a rendered page.")
    browser: str | None = setting(
        None, "Path of Chromium or Chrome; none: look for it in the usual places.", needs_trust=True
    )
    browsers: int = setting(2, "Maximum number of browsers of each worker process; each renders one page at a time.")
    page_time: timedelta = setting(
        _seconds(10), "How far the clock of a page may run. Timers fire without real waiting."
    )
    quiet: timedelta = setting(
        _seconds(0.5), "A page is done after this time without requests and changes of the document."
    )
    max_time: timedelta = setting(_seconds(10), "Maximum time for one page, not counting the time of our own requests.")
    max_fetch_time: timedelta = setting(_seconds(120), "Maximum time for the requests of one page.")
    max_requests: int = setting(300, "Maximum number of requests of one page; more are refused.")
    max_bytes: int = setting(32 * 1024 * 1024, "Maximum size of everything that one page loads; more is refused.")
    max_body_bytes: int = setting(8 * 1024 * 1024, "Maximum size of one file that a page loads.")
    max_dom_bytes: int = setting(16 * 1024 * 1024, "Maximum size of a rendered document.")
    max_memory: int = setting(1024 * 1024 * 1024, "Maximum memory of a browser; a page that needs more is ended.")
    post: bool = setting(
        True, "Send POST requests of scripts that read data. Never sent: forms, uploads; if signed in."
    )
    max_scrolls: int = setting(200, "How often to scroll down a page while that shows more.")
    max_scroll_time: timedelta = setting(_seconds(60), "Maximum time for scrolling, besides max_time.")
    max_clicks: int = setting(
        100, "How many buttons of a page to press to see more, and how often `Load more`. 0: none; none if signed in."
    )
    max_views: int = setting(100, "How many views of a page with addresses such as `#/about` to show.")
    skip: tuple[str, ...] = setting(
        ("image", "media", "font"), "Types of files that pages do not get: image, media, font, stylesheet."
    )
    pages_per_browser: int = setting(100, "Start a new browser after this many pages.")
    screenshot_width: int = setting(1280, "Width of the window in pixels.")
    screenshot_height: int = setting(8000, "Maximum height of a screenshot in pixels.")


@dataclass(frozen=True, slots=True)
class AssetSettings:
    """Complete copies: styles, images, fonts and scripts of stored pages."""

    enabled: bool = setting(False, "Store the assets of pages, also from other hosts.")
    max_bytes: int = setting(20 * 1024 * 1024, "Maximum size of one asset; the rest is cut off.")
    max_per_page: int = setting(500, "Maximum number of assets of one page, including those of its styles.")
    refresh: timedelta = setting(
        timedelta(days=1), "Age from which a stored asset is requested again when a page that needs it changes."
    )


@dataclass(frozen=True, slots=True)
class SearchSettings:
    """The search index and the link graph."""

    enabled: bool = setting(True, "Store links and headings for search and the link graph.")
    background_index: str = setting(
        "watch",
        "When to update the index during a crawl: watch (only with `evercrawl watch`), always or never. A search "
        "always updates it.",
    )
    index_interval: timedelta = setting(_seconds(3), "Time between two updates of the index during a crawl.")
    index_buffer_bytes: int = setting(32 * 1024 * 1024, "Memory for index entries before they are written.")
    max_text_chars: int = setting(
        2_000_000,
        "Characters of a version that search finds; the rest is stored, but not indexed. Limits the CPU time of "
        "indexing: 2,000,000 take up to 2 s.",
    )
    include_noindex: bool = setting(True, "Include noindex pages in local search.")
    source_timeout: timedelta = setting(_seconds(5), "How long to wait for each source in a search over several.")


@dataclass(frozen=True, slots=True)
class AgentSettings:
    """Answers to language-model agents (`evercrawl mcp`)."""

    max_answer_chars: int = setting(30_000, "Most characters of page text in one answer; the rest is read in portions.")
    max_results: int = setting(50, "Most rows of one answer; the rest is read in portions.")
    calls_per_minute: int = setting(120, "Calls that are answered in a minute.")
    fetches_per_hour: int = setting(30, "Pages that agents may have fetched or watched in an hour, if that is allowed.")


@dataclass(frozen=True, slots=True)
class WebSettings:
    """The web interface."""

    public_url: str | None = setting(
        None,
        "URL where people reach the web interface (`serve`). Alerts link to it; none: they name commands instead.",
        needs_trust=True,
    )
    keep_watching: bool = setting(
        False, 'Keep the collection up to date while the web interface runs. "Keep watching" sets it, Stop clears it.'
    )
    tags: tuple[str, ...] = setting((), "Tags of the collection on the home page of a folder (`serve FOLDER`).")
    max_open_collections: int = setting(
        32, "Collections of a folder that are open at the same time; the one that was used least recently is closed."
    )
    max_crawls: int = setting(
        4, "Crawls that a served folder runs at the same time. More collections that are watched take turns."
    )
    crawl_turn: timedelta = setting(
        timedelta(minutes=10), "How long a watched collection of a folder crawls while others wait for their turn."
    )
    trusted_proxies: tuple[str, ...] = setting(
        (),
        "Addresses of reverse proxies whose X-Forwarded-For names the client, so that limits apply to each client.",
        needs_trust=True,
    )
    max_connections: int = setting(
        2000, "Open connections to the web interface. Silent clients that are not logged in make room for new ones."
    )
    max_connections_per_address: int = setting(
        500, "Open connections of clients that are not logged in, per IPv4 address or IPv6 /64 block."
    )
    header_timeout: timedelta = setting(_seconds(10), "Maximum time for a client to send the headers of a request.")
    body_timeout: timedelta = setting(_seconds(60), "Maximum time for a client to send the body of a request.")
    idle_timeout: timedelta = setting(_seconds(30), "How long a connection stays open between two requests.")
    send_timeout: timedelta = setting(_seconds(60), "How long to wait for a client that does not read its response.")
    max_unsent_bytes: int = setting(
        64 * 1024 * 1024, "Responses that clients have not read yet; beyond this, the slowest are disconnected."
    )
    anonymous_requests: int = setting(
        8, "Requests of clients that are not logged in that are handled at the same time; users come first."
    )
    anonymous_rate: float = setting(200.0, "Requests per second of clients that are not logged in, all together.")
    password_attempts_per_address: int = setting(
        10,
        "Password attempts per hour from one IPv4 /24 or IPv6 /64 block, or from a browser that has logged in before.",
    )
    password_attempts: int = setting(
        50, "Password attempts per hour from all browsers together that have not logged in before."
    )
    announced_urls_per_day: int = setting(
        100, "New URLs per day that a site or hub may announce (IndexNow, WebSub) without a link to them."
    )


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings, by section of `collection.toml`."""

    identity: IdentitySettings = field(default_factory=IdentitySettings)
    scope: ScopeSettings = field(default_factory=ScopeSettings)
    pace: PaceSettings = field(default_factory=PaceSettings)
    crawl: CrawlSettings = field(default_factory=CrawlSettings)
    http: HttpSettings = field(default_factory=HttpSettings)
    dns: DnsSettings = field(default_factory=DnsSettings)
    robots: RobotsSettings = field(default_factory=RobotsSettings)
    frontier: FrontierSettings = field(default_factory=FrontierSettings)
    url_seen: UrlSeenSettings = field(default_factory=UrlSeenSettings)
    store: StoreSettings = field(default_factory=StoreSettings)
    archive: ArchiveSettings = field(default_factory=ArchiveSettings)
    parse: ParseSettings = field(default_factory=ParseSettings)
    change: ChangeSettings = field(default_factory=ChangeSettings)
    revisit: RevisitSettings = field(default_factory=RevisitSettings)
    credit: CreditSettings = field(default_factory=CreditSettings)
    duplicates: DuplicateSettings = field(default_factory=DuplicateSettings)
    sitemaps: SitemapSettings = field(default_factory=SitemapSettings)
    focus: FocusSettings = field(default_factory=FocusSettings)
    analysis: AnalysisSettings = field(default_factory=AnalysisSettings)
    discovery: DiscoverySettings = field(default_factory=DiscoverySettings)
    traps: TrapSettings = field(default_factory=TrapSettings)
    outposts: OutpostSettings = field(default_factory=OutpostSettings)
    render: RenderSettings = field(default_factory=RenderSettings)
    assets: AssetSettings = field(default_factory=AssetSettings)
    search: SearchSettings = field(default_factory=SearchSettings)
    alerts: AlertSettings = field(default_factory=AlertSettings)
    web: WebSettings = field(default_factory=WebSettings)
    agents: AgentSettings = field(default_factory=AgentSettings)
    sites: tuple[SiteSettings, ...] = ()  # The tables [site."PATTERN"], in the order of the files.
    is_trusted: bool = True  # Whether the collection may send alerts and let people log in; see `evercrawl trust`.
