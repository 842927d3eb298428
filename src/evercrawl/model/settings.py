"""Every setting with its default, unit and one sentence of help. `0` never means "no limit"; `None` does."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any


def setting(default: Any, text: str) -> Any:
    """A field whose help text is what `config` and the reference show."""
    if isinstance(default, (list, dict)):
        raise TypeError("defaults are immutable")
    return field(default=default, metadata={"help": text})


def _seconds(value: float) -> timedelta:
    return timedelta(seconds=value)


@dataclass(frozen=True, slots=True)
class IdentitySettings:
    """Who we say that we are."""

    product: str = setting("evercrawl", "Product token: first word of the user agent and our name in robots.txt.")
    contact: str | None = setting(
        None, "Mail address or page where a site's owner reaches you; shown in every request."
    )


@dataclass(frozen=True, slots=True)
class ScopeSettings:
    """Which URLs belong to the collection."""

    seeds: tuple[str, ...] = setting((), "URLs from which the crawl starts.")
    kind: str = setting(
        "host",
        "host: the seeds' hosts; prefix: below the seeds' folders; domain: the registrable domains with all sub-domains; list: the seeds alone.",
    )
    depth: int | None = setting(None, "Most links away from a seed; none: no limit.")
    include: tuple[str, ...] = setting((), "Regular expressions; a URL must match one of them, if any are given.")
    exclude: tuple[str, ...] = setting((), "Regular expressions; a URL that matches one is refused.")
    filter: str | None = setting(
        None, "A filter expression, such as: domain(example.org) and not prefix(https://example.org/old/)."
    )
    plugins: tuple[str, ...] = setting((), "Filters of your own as module:object, loaded at start.")
    fetch_types: tuple[str, ...] = setting(
        (), "Kinds of files to fetch beside pages: image, style, script, font, archive, media, document."
    )
    follow_nofollow: bool = setting(False, "Follow links that are marked nofollow.")
    url_length: int = setting(2048, "Longest URL, in characters.")
    pages_per_site: int | None = setting(None, "Most pages that one site may have; none: no limit.")


@dataclass(frozen=True, slots=True)
class PaceSettings:
    """How gently each site is asked."""

    mode: str = setting(
        "gentle",
        "gentle: one request at a time, gap by answer time; paper: at least 10 s; own: no gap, for hosts that are yours.",
    )
    gap: timedelta | None = setting(None, "Least gap per site, whatever the mode; none: the mode's own.")
    shortest: timedelta = setting(_seconds(1), "Shortest gap in mode gentle.")
    longest: timedelta = setting(_seconds(60), "Longest gap that slowness or a Crawl-delay may cause.")
    factor: float = setting(10.0, "The gap is at least this many times the last answer's time.")
    own_concurrency: int = setting(8, "Requests at a time per site in mode own.")
    slower: tuple[str, ...] = setting(
        (), "Sites with a longer least gap of their own, each behind its site, as `evercrawl pace slow` writes them."
    )


@dataclass(frozen=True, slots=True)
class CrawlSettings:
    """Limits of one run."""

    concurrency: int = setting(64, "Most requests in flight over all sites.")
    workers: int = setting(
        1,
        "Processes that share the work, each with its own part of the shards. Sites of one domain stay with one worker.",
    )
    max_pages: int | None = setting(10_000, "Soft stop after this many pages in one run; none: no limit.")
    max_time: timedelta | None = setting(None, "Soft stop after this time; none: no limit.")
    max_bytes: int | None = setting(None, "Soft stop after this many bytes on the wire; none: no limit.")
    patience: timedelta = setting(
        _seconds(60),
        "How long a run waits when every remaining site is closed, before it ends and leaves the rest for the next.",
    )
    shutdown: timedelta = setting(_seconds(10), "How long requests in flight may go on after the first Ctrl-C.")


@dataclass(frozen=True, slots=True)
class HttpSettings:
    """Limits of one request; every one of them ends it with a reason of its own."""

    connect: timedelta = setting(_seconds(10), "Time for the connection, TLS included.")
    first_byte: timedelta = setting(_seconds(20), "Time from the request to the first byte of the answer.")
    idle: timedelta = setting(_seconds(15), "Longest silence inside an answer.")
    total: timedelta = setting(_seconds(60), "Time for the whole page.")
    wire_bytes: int = setting(16 * 1024 * 1024, "Most bytes of a body on the wire; the rest is cut off.")
    decoded_bytes: int = setting(32 * 1024 * 1024, "Most bytes of a body after decoding; the rest is cut off.")
    ratio: float = setting(200.0, "Most decoded bytes for each byte on the wire, once a megabyte is decoded.")
    header_bytes: int = setting(512 * 1024, "Most bytes of status line and headers together.")
    header_count: int = setting(10_000, "Most header fields.")
    redirects: int = setting(10, "Most redirects in a row.")
    keep_alive: timedelta = setting(_seconds(30), "How long an idle connection is kept open.")
    allow_private: bool = setting(False, "Allow loopback, private and link-local addresses.")
    resolve: tuple[str, ...] = setting((), "HOST:PORT:ADDR, as curl has it: use this address for that host and port.")
    allow_ports: tuple[int, ...] = setting((), "Ports of other protocols that may be asked all the same.")
    ca_file: str | None = setting(None, "File of additional certificate authorities (PEM).")
    verify_tls: bool = setting(True, "Refuse invalid certificates.")
    accept_language: str | None = setting(None, "Accept-Language header; none: not sent.")


@dataclass(frozen=True, slots=True)
class DnsSettings:
    """Name resolution."""

    servers: tuple[str, ...] = setting((), "Name servers to ask; empty: those of the system.")
    timeout: timedelta = setting(_seconds(5), "Time for one look-up.")
    tries: int = setting(2, "Tries for one look-up.")
    shortest_ttl: timedelta = setting(_seconds(60), "Least time an answer is kept.")
    longest_ttl: timedelta = setting(_seconds(86_400), "Longest time an answer is kept.")
    negative_ttl: timedelta = setting(_seconds(300), "How long a failed look-up is remembered.")
    cache_entries: int = setting(50_000, "Most names in the cache.")
    parallel: int = setting(50, "Look-ups at the same time.")


@dataclass(frozen=True, slots=True)
class RobotsSettings:
    """How robots.txt is read."""

    forbid_on_403: bool = setting(True, "401 and 403 on robots.txt mean that nothing may be asked.")
    max_age: timedelta = setting(_seconds(86_400), "Longest use of a copy before it is asked for again.")
    retry: timedelta = setting(
        _seconds(300), "Time to the next try when robots.txt is unreachable; doubles up to a day."
    )
    unreachable_limit: timedelta = setting(
        timedelta(days=30), "After so long without an answer the site is taken to have no robots.txt."
    )
    body_bytes: int = setting(512 * 1024, "Bytes of the file that are read.")
    redirects: int = setting(5, "Redirects of robots.txt that are followed.")
    crawl_delay_cap: timedelta = setting(
        _seconds(60), "Longest Crawl-delay that is honoured to the letter; a longer one counts as this."
    )


@dataclass(frozen=True, slots=True)
class FrontierSettings:
    """The queues."""

    bands: int = setting(8, "Front queues, by priority.")
    window: int = setting(
        64, "Pages of one back queue that are held in memory; also a site's turn before others get theirs."
    )
    back_queues: int | None = setting(
        None, "Sites that hold a back queue at a time; none: three for each concurrent request."
    )


@dataclass(frozen=True, slots=True)
class SeenSettings:
    """The URL-seen test."""

    cache_entries: int = setting(2**18, "URLs in the cache of popular ones, over all shards.")
    filter_bytes: int = setting(64 * 1024 * 1024, "Memory for the filter of known URLs, over all shards.")


@dataclass(frozen=True, slots=True)
class StoreSettings:
    """State on disk, or in a database."""

    url: str | None = setting(
        None, "postgresql://user@host/database: the state lies there, for any number of machines; none: in files."
    )
    shards: int = setting(64, "Number of shards; fixed when the collection is made.")
    lease: timedelta = setting(
        _seconds(30),
        "With url: a worker without a heartbeat for so long is taken for dead, and its shards go to others.",
    )
    patience: timedelta = setting(
        _seconds(600), "With url: how long in all a worker waits for a database that is away before it ends."
    )
    commit_every: timedelta = setting(_seconds(1), "Time between two commits of a shard.")
    commit_pages: int = setting(500, "A commit is made earlier when this many visits wait for it.")
    durability: str = setting(
        "process", "process: what is acknowledged survives kill -9; power: also a power cut (slower)."
    )
    cache_bytes: int = setting(64 * 1024 * 1024, "SQLite page cache over all open shards.")
    refusals_per_shard: int = setting(1_000_000, "Most refused URLs that a shard remembers one by one.")


@dataclass(frozen=True, slots=True)
class ArchiveSettings:
    """WARC files."""

    roll_bytes: int = setting(1_000_000_000, "A new file is begun when one has grown to this size.")
    level: int = setting(1, "gzip level, 0 to 3.")
    url: str | None = setting(
        None,
        "s3://bucket/prefix?endpoint=https://... or file:///path: finished files are uploaded there, and read "
        "from there where they are not here; none: they stay here.",
    )
    upload_bytes: int = setting(64 * 1024 * 1024, "With url: a new file is begun when one has grown to this size.")
    upload_every: timedelta = setting(_seconds(30), "With url: a new file is begun when one has become so old.")
    acknowledge: str = setting(
        "local",
        "When a page counts as stored. local: its record is on this machine's disk; stored: it is at url, so "
        "that commits wait for uploads and come every upload_every (only with the state in a database).",
    )
    keep_local: bool = setting(True, "With url: keep a file here when its upload is confirmed.")


@dataclass(frozen=True, slots=True)
class ParseSettings:
    """Limits of what is taken from one document."""

    links: int = setting(20_000, "Most links of one page.")
    anchor_chars: int = setting(300, "Longest anchor text.")
    title_chars: int = setting(1000, "Longest title.")
    text_chars: int = setting(2_000_000, "Longest main text.")


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
    """When a page is looked at again."""

    policy: str = setting(
        "optimal",
        "optimal: what brings most freshness for a request; or a rule by name: uniform, fixed, paper-adaptive, "
        "paper-selective, paper-pdfc, nutch, stormcrawler.",
    )
    budget: float | None = setting(None, "Most requests a day in all; none: as many as are worth it.")
    site_budget: float | None = setting(None, "Most requests a day to one site: the gap between two grows to match.")
    worth: timedelta = setting(
        timedelta(hours=6), "Without a budget: time of a current copy that a visit must bring to be made."
    )
    shortest: timedelta = setting(timedelta(hours=1), "Shortest interval between two visits to a page.")
    longest: timedelta = setting(timedelta(days=60), "Longest interval: no page is given up.")
    drift: float = setting(0.1, "Each interval is varied by this share, so that visits wander over the day.")
    audit: float = setting(0.08, "Share of visits without a condition, to find out validators that lie.")
    quiet: tuple[str, ...] = setting((), "Hours (UTC) without requests, such as 22:00-06:00.")


@dataclass(frozen=True, slots=True)
class CreditSettings:
    """Which pages deserve requests: credit flows along links, and the richest page is next."""

    order: str = setting(
        "credit", "credit: pages that links give most credit to come first; breadth-first: near the seeds before far."
    )
    influence: float = setting(
        0.5,
        "How much importance counts in revisits: a page's weight is its importance against the mean, to this "
        "power; 0: all count alike.",
    )
    writes: int = setting(2, "Known pages whose credit is written for each visited page, those first that gained most.")
    entries: int = setting(2**18, "Links with credit that wait in memory to be written, over all shards.")


@dataclass(frozen=True, slots=True)
class DuplicateSettings:
    """Pages that say what another page says."""

    near: bool = setting(True, "Look for pages whose main text is nearly that of another page.")
    similarity: float = setting(
        0.9, "Share of two texts, 0 to 1, from which on one page counts as a duplicate of the other."
    )
    mirrors: bool = setting(True, "Look for sites that are copies of another one; their pages are not asked for again.")
    weight: float = setting(0.25, "What a visit to a duplicate is worth against one to the page it repeats.")


@dataclass(frozen=True, slots=True)
class SignalSettings:
    """Sitemaps and feeds: what sites say about their own pages."""

    enabled: bool = setting(True, "Ask sites for sitemaps and feeds.")
    probe_after: int = setting(
        12, "Pages of a site after which its usual places are tried, where robots.txt names no sitemap."
    )
    files: int = setting(200, "Most sitemaps of one site that are read at a time.")
    bytes: int = setting(50 * 1024 * 1024, "Most bytes of one sitemap, as the protocol has it.")


@dataclass(frozen=True, slots=True)
class NotifySettings:
    """Alerts: how messages are delivered."""

    enabled: bool = setting(True, "Tell alerts of changes while a crawl runs.")
    every: timedelta = setting(_seconds(5), "How often is looked for changes to tell.")
    timeout: timedelta = setting(_seconds(20), "Time for one attempt to deliver a message.")
    first_wait: timedelta = setting(_seconds(10), "Wait after the first failure; doubles with each.")
    longest_wait: timedelta = setting(timedelta(hours=1), "Longest wait between two attempts.")
    patience: timedelta = setting(
        timedelta(days=7),
        "A message that has not arrived for so long is set aside, so that those behind it get their turn.",
    )
    keep: timedelta = setting(timedelta(days=30), "How long delivered messages stay in the log.")
    quiet: tuple[str, ...] = setting(
        (), "Hours (UTC) in which alerts that name none of their own send nothing, such as 22:00-06:00."
    )
    mail_host: str | None = setting(None, "Server that takes mail; none: no alert can go by mail.")
    mail_port: int = setting(587, "Port of that server.")
    mail_tls: str = setting(
        "starttls", "starttls: encryption is begun in the connection; tls: from the first byte; off: no encryption."
    )
    mail_user: str | None = setting(None, "User at that server; none: no login.")
    mail_password_file: str | None = setting(
        None, "File that holds the password; otherwise the variable EVERCRAWL_MAIL_PASSWORD."
    )
    mail_from: str | None = setting(None, "Sender of mail; none: identity.contact.")


@dataclass(frozen=True, slots=True)
class FocusSettings:
    """Focused crawls."""

    window: int = setting(
        1000, "Pages of one site among which the best is looked for; more are read from the store in turn."
    )


@dataclass(frozen=True, slots=True)
class HiddenSettings:
    """Pages that nothing links to."""

    parents: int = setting(
        0, "Folders above each page that are asked for too, the nearest first, by cutting off its URL."
    )
    neighbours: int = setting(0, "Numbers before and behind each numbered page that are asked for too, on either side.")


@dataclass(frozen=True, slots=True)
class AnalysisSettings:
    """What else is said about each new version."""

    enabled: tuple[str, ...] = setting(
        (), "Analysers by name, such as language and sentiment, or module:object for one of your own."
    )


@dataclass(frozen=True, slots=True)
class TrapSettings:
    """URLs without end and without content: what is left out, and when it is learned."""

    enabled: bool = setting(True, "Walk out of traps; without it only your own rules count.")
    learn_from: int = setting(60, "Known pages of a site from which on it is learned what each of its parts yields.")
    tries: int = setting(
        20, "Most patterns of one site that are tried in a run with two addresses that nobody linked to."
    )
    ignore: tuple[str, ...] = setting(
        (), "Sets of rules for known software by name: forums, wikis, shops, calendars, blogs, code, listings."
    )
    exclude: tuple[str, ...] = setting(
        (), "Patterns that are left out, each alone or behind a site, as `evercrawl trap exclude` writes them."
    )
    allow: tuple[str, ...] = setting((), "Patterns that are asked for whatever is said against them.")


@dataclass(frozen=True, slots=True)
class OutpostSettings:
    """Helpers that run near sites and send only what changed."""

    listen: str | None = setting(
        None, "HOST:PORT at which paired outposts reach this collection while it crawls; none: nowhere."
    )
    lease: timedelta = setting(
        _seconds(120), "How long an outpost that falls silent keeps its sites before the crawler takes them."
    )
    wait: timedelta = setting(
        _seconds(10), "How long a run waits at its start for an outpost before it asks its sites itself."
    )
    resend: timedelta | None = setting(
        timedelta(hours=6),
        "A page that changes at every visit is sent again after this time at the earliest; none: each time.",
    )
    held_bytes: int = setting(
        1024 * 1024 * 1024, "Most bytes of answers kept at home so that outposts can send differences."
    )


@dataclass(frozen=True, slots=True)
class SearchSettings:
    """The search index and the link graph."""

    enabled: bool = setting(True, "Keep links and headings, for search and the link graph.")
    follow: str = setting(
        "watch",
        "When the index is brought up beside the crawl: watch, always, or never. A search brings it up in any case.",
    )
    every: timedelta = setting(_seconds(3), "Time between two looks of the index at what the crawl has stored.")
    heap_bytes: int = setting(32 * 1024 * 1024, "Memory for index entries that are not written yet.")
    noindex: bool = setting(True, "Find pages in local search that ask not to be indexed.")
    source_timeout: timedelta = setting(
        _seconds(5), "How long a search over several collections waits for one of them."
    )


@dataclass(frozen=True, slots=True)
class Settings:
    """All of them, by section of `collection.toml`."""

    identity: IdentitySettings = field(default_factory=IdentitySettings)
    scope: ScopeSettings = field(default_factory=ScopeSettings)
    pace: PaceSettings = field(default_factory=PaceSettings)
    crawl: CrawlSettings = field(default_factory=CrawlSettings)
    http: HttpSettings = field(default_factory=HttpSettings)
    dns: DnsSettings = field(default_factory=DnsSettings)
    robots: RobotsSettings = field(default_factory=RobotsSettings)
    frontier: FrontierSettings = field(default_factory=FrontierSettings)
    seen: SeenSettings = field(default_factory=SeenSettings)
    store: StoreSettings = field(default_factory=StoreSettings)
    archive: ArchiveSettings = field(default_factory=ArchiveSettings)
    parse: ParseSettings = field(default_factory=ParseSettings)
    change: ChangeSettings = field(default_factory=ChangeSettings)
    revisit: RevisitSettings = field(default_factory=RevisitSettings)
    credit: CreditSettings = field(default_factory=CreditSettings)
    duplicates: DuplicateSettings = field(default_factory=DuplicateSettings)
    signals: SignalSettings = field(default_factory=SignalSettings)
    focus: FocusSettings = field(default_factory=FocusSettings)
    analysis: AnalysisSettings = field(default_factory=AnalysisSettings)
    hidden: HiddenSettings = field(default_factory=HiddenSettings)
    traps: TrapSettings = field(default_factory=TrapSettings)
    outposts: OutpostSettings = field(default_factory=OutpostSettings)
    search: SearchSettings = field(default_factory=SearchSettings)
    notify: NotifySettings = field(default_factory=NotifySettings)
