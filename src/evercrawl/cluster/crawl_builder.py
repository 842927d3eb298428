"""Build a crawl from its settings: the one place where a crawl's adapters are created."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

from evercrawl.adapters.duplicates_index import NEW_ENTRIES, NearDuplicateIndex
from evercrawl.adapters.focus_file import load_focus
from evercrawl.adapters.http.client import HttpFetcher
from evercrawl.adapters.http.request_signing import load_signer
from evercrawl.adapters.parse_process import ParseProcesses
from evercrawl.adapters.plugins import FetcherByScheme, InstalledHandlers, load_filter, load_schemes
from evercrawl.adapters.sqlite.inbox_file import Corrections
from evercrawl.adapters.sqlite.sqlite_database import SqliteStore
from evercrawl.adapters.sqlite.state_file import database_of, set_database, shards_in
from evercrawl.adapters.system import FileShares, OpenFiles, SystemClock, file_shares, retain_freed_memory
from evercrawl.adapters.warc.warc_records import WarcInfo
from evercrawl.adapters.warc.writer import FileOwner, WarcArchive
from evercrawl.cluster.run_requests import pause_of
from evercrawl.config.credentials_file import NoSessions, SessionFile, read_credentials
from evercrawl.config.fields_file import WatchedRules
from evercrawl.config.load import read_host_list, read_lines, watch_rate_overrides, watch_trap_rules
from evercrawl.core.duplicates.url_seen import UrlCache
from evercrawl.core.politeness import Pace, pace_from_settings
from evercrawl.core.scope.scope import Scope
from evercrawl.core.scope.selection import count_accesses
from evercrawl.core.traps.user_rules import TrapFilter
from evercrawl.core.url import origin_of
from evercrawl.engine.crawl import Crawl, CrawlPorts, NewOverrides, NewRules, RuleUpdates
from evercrawl.engine.decision import NO_FIELD_RULES, Policy
from evercrawl.engine.machines import Machines, Resolve
from evercrawl.engine.ports import (
    Archive,
    Clock,
    DocumentParser,
    Fetcher,
    FieldRules,
    OpenArchive,
    OpenNear,
    Renderer,
    Store,
)
from evercrawl.engine.runtime import FocusGuide, NoPeers, Peers, Runtime, StopSignal
from evercrawl.errors import ConfigError
from evercrawl.model import __version__
from evercrawl.model.change import Mute
from evercrawl.model.credentials import CredentialSet
from evercrawl.model.settings import ArchiveSettings, Settings, StoreSettings
from evercrawl.model.user_agent import user_agent

if TYPE_CHECKING:
    from evercrawl.adapters.objectstore.uploader import Uploader
    from evercrawl.core.focus.classifier import TopicSketch
    from evercrawl.core.focus.focus import Focus
    from evercrawl.core.sentiment.field_analysers import Analyser

SOFTWARE = f"evercrawl/{__version__}"
MIN_NEW_ENTRIES = 1024
"""Minimum number of signatures per shard that the near-duplicate index keeps in memory, about 2 KB each."""


def build_crawl(
    collection: Path,
    settings: Settings,
    *,
    stop: StopSignal | None = None,
    forever: bool = False,
    peers: Peers | None = None,
    store: Store | None = None,
    owner: str = "",
) -> Crawl:
    """Build the crawl of a collection on disk over the real network.
    `forever`: wait for pages to become due. `store`: an open store. `owner`: a unique id of this process if several
    processes write archives of the same shards."""
    retain_freed_memory()
    peers = peers or NoPeers()
    clock = SystemClock()
    if settings.archive.url is not None:
        # A unique id: uploaded files must never be written again.
        owner = owner or uuid4().hex[:12]
    uploader = _uploader(collection, settings.archive, owner)
    shares = file_shares(concurrency=settings.crawl.concurrency, shards=settings.store.shards)
    # With few descriptors, fewer requests at the same time: the others would only wait for a socket.
    concurrency = min(settings.crawl.concurrency, max(1, shares.sockets // 2))
    settings = replace(settings, crawl=replace(settings.crawl, concurrency=concurrency))
    store = store or open_store(collection, settings.store, most_open=shares.shards)
    if settings.archive.acknowledge == "uploaded":
        settings = _wait_for_uploads(settings, store, uploader)
    agent = user_agent(settings.identity, __version__)
    schemes = load_schemes(settings, clock, agent)
    http, fetcher = _fetchers(collection, settings, clock, agent, peers)
    return assemble_crawl(
        settings,
        clock=clock,
        fetcher=fetcher,
        resolve=http.address_of,
        renderer=_renderer(settings, collection),
        parser=ParseProcesses(),
        schemes=schemes,
        store=store,
        open_archive=_warc_files(collection, settings, clock, owner, uploader),
        open_near=_near_indexes(collection, settings, shares),
        stop=stop,
        forever=forever,
        corrections=Corrections(collection),
        fields=WatchedRules(collection),
        new_rules=watch_trap_rules(collection, settings.traps).changed,
        new_overrides=watch_rate_overrides(collection, settings).changed,
        is_paused=lambda: pause_of(collection) is not None,
        peers=peers,
        after=uploader.finish if uploader is not None else None,
        focus=load_focus(collection),
    )


def _analysers(names: Sequence[str]) -> tuple[Analyser, ...]:
    if not names:
        return ()
    from evercrawl.adapters.analysers import load_analysers

    return load_analysers(names)


def _language_of(text: str) -> str | None:
    """Return the language of a text; the model is loaded with the first page that does not declare its own."""
    from evercrawl.adapters.analysers import detect_language

    return detect_language(text)


def _renderer(settings: Settings, collection: Path) -> Renderer | None:
    """Return the renderer; its browser starts with the first page that needs one. None: no page is rendered."""
    if settings.render.mode == "never" and not any(site.render in ("auto", "always") for site in settings.sites):
        return None
    from evercrawl.adapters.browser.renderer import ChromiumRenderer

    credentials = read_credentials(collection, is_trusted=settings.is_trusted)
    return ChromiumRenderer(settings.render, signed_in=credentials.sites)


def _fetchers(
    collection: Path, settings: Settings, clock: Clock, agent: str, peers: Peers
) -> tuple[HttpFetcher, Fetcher]:
    """Return the HTTP client, and the same with outposts and the credentials of sites, which go to no outpost."""

    def load() -> CredentialSet:
        return read_credentials(collection, is_trusted=settings.is_trusted)

    found, keeps = load(), settings.http.keep_cookies
    http = HttpFetcher(
        settings,
        clock,
        agent,
        may_send=peers.may_fetch,
        proxy_of=lambda parts: found.proxy_of(origin_of(parts)),
        signer=load_signer(settings.identity),
    )
    others = _outposts(collection, settings, clock, http)
    if not found.sites and keeps != "all":
        return http, others
    from evercrawl.adapters.http.signed_in import SignedInFetcher

    store = NoSessions() if keeps == "none" else SessionFile(collection)
    return http, SignedInFetcher(http, load, others=others, clock=clock, store=store, keep_all=keeps == "all")


def _outposts(collection: Path, settings: Settings, clock: Clock, own: Fetcher) -> Fetcher:
    """Return the HTTP client, wrapped by the outpost coordinator if `outposts.listen` is set."""
    if settings.outposts.listen is None:
        return own
    from evercrawl.outpost.coordinator import Coordinator

    coordinator = Coordinator(collection, settings, clock, direct=own)
    coordinator.listen(settings.outposts.listen, collection)
    return coordinator


def uses_database(collection: Path, settings: StoreSettings) -> bool:
    """Check whether the collection's state is in a database that other processes may share."""
    return settings.url is not None or database_of(collection) is not None


def open_store(collection: Path, settings: StoreSettings, *, most_open: int | None = None) -> Store:
    """Open the state of a collection, in its files or in the configured database.
    `most_open`: at most this many shards have open files."""
    address = settings.url or database_of(collection)
    if address is None:
        return SqliteStore(collection, settings, most_open=most_open)
    try:
        from evercrawl.adapters.postgres.membership import PostgresStore
        from evercrawl.adapters.postgres.postgres_pool import parse_address
    except ModuleNotFoundError as error:
        raise ConfigError(
            f"--store needs the extra postgres ({error.name} is missing): pip install 'evercrawl[postgres]'"
        ) from error
    if database_of(collection) is None and shards_in(collection):
        raise ConfigError(
            f"{collection} keeps its state in files and cannot use a database as well;"
            " move it with: evercrawl store move --to DSN"
        )
    store = PostgresStore(parse_address(address), settings)
    set_database(collection, address)
    return store


def assemble_crawl(
    settings: Settings,
    *,
    clock: Clock,
    fetcher: Fetcher,
    store: Store,
    open_archive: OpenArchive,
    open_near: OpenNear,
    schemes: Mapping[str, Fetcher] | None = None,
    stop: StopSignal | None = None,
    seed: int = 0,
    forever: bool = False,
    corrections: Callable[[], Sequence[Mute]] = tuple,
    fields: FieldRules | None = None,
    new_rules: NewRules | None = None,
    new_overrides: NewOverrides | None = None,
    is_paused: Callable[[], bool] = lambda: False,
    peers: Peers | None = None,
    after: Callable[[], Awaitable[None]] | None = None,
    focus: Focus | TopicSketch | None = None,
    scope: Scope | None = None,
    resolve: Resolve | None = None,
    renderer: Renderer | None = None,
    parser: DocumentParser | None = None,
) -> Crawl:
    """Build a crawl from ports, real or simulated. `scope` replaces the scope of the settings.
    `resolve` finds the address of a site; without it, addresses have no limit."""
    policy = Policy(
        settings=settings,
        scope=scope or scope_of(settings, schemes or ()),
        traps=TrapFilter(settings.traps),
        agent=settings.identity.product,
        handler_of=InstalledHandlers().get,
        parser=parser,
        analysers=_analysers(settings.analysis.analysers),
        fields=fields or NO_FIELD_RULES,
        language_of=_language_of,
        corrections=corrections,
        is_focused=focus is not None,
        forever=forever,
    )
    pace = pace_for(settings)
    runtime = Runtime(
        policy,
        clock,
        FetcherByScheme(fetcher, schemes) if schemes else fetcher,
        renderer=renderer,
        popular=UrlCache(settings.url_seen.cache_entries),
        peers=peers or NoPeers(),
        focus=FocusGuide(focus, window=settings.focus.window, priorities=settings.frontier.priorities)
        if focus
        else None,
        machines=Machines(clock, pace=pace, resolve=resolve, processes=settings.crawl.workers)
        if pace.concurrency == 1
        else None,
    )
    return Crawl(
        CrawlPorts(store, open_archive, open_near),
        runtime,
        pace=pace,
        seed=seed,
        stop=stop,
        updates=None if new_rules is None else RuleUpdates(new_rules, new_overrides, is_paused),
        after=after,
    )


def scope_of(settings: Settings, schemes: Iterable[str]) -> Scope:
    """Return the scope of a collection, with its filters and lists of hosts."""
    scope = settings.scope
    if scope.exclude_hosts_file is not None:
        hosts = (*scope.exclude_hosts, *read_host_list(scope.exclude_hosts_file))
        scope = replace(scope, exclude_hosts=hosts)
    return Scope(
        scope,
        filters={name: load_filter(name) for name in scope.plugins},
        allow_ports=settings.http.allow_ports,
        schemes=schemes,
        sites=settings.sites,
        accesses=count_accesses(read_lines("scope.access_log", scope.access_log)) if scope.access_log else None,
    )


def pace_for(settings: Settings) -> Pace:
    """Return the pace of a run. Private addresses count as the operator's own, so they need no contact."""
    is_own_net = settings.pace.mode == "unlimited" and settings.http.allow_private
    anonymous = settings.identity.contact is None and not is_own_net
    return pace_from_settings(
        settings.pace,
        delay_cap=settings.robots.max_crawl_delay,
        anonymous=anonymous,
        per_day=settings.revisit.site_budget,
    )


def _near_indexes(collection: Path, settings: Settings, shares: FileShares) -> OpenNear:
    new_entries = max(MIN_NEW_ENTRIES, NEW_ENTRIES // settings.store.shards)
    files = OpenFiles(1) if shares.shards < settings.store.shards else None
    folder = collection / "near"
    return lambda shard: NearDuplicateIndex(folder / f"s{shard:02}", new_entries=new_entries, files=files)


def _uploader(collection: Path, settings: ArchiveSettings, owner: str) -> Uploader | None:
    """Return the uploader to object storage, or None if archives stay in the collection's folder."""
    if settings.url is None:
        return None
    from evercrawl.adapters.objectstore.bucket import open_bucket
    from evercrawl.adapters.objectstore.uploader import Uploader, set_archive_address

    folder = collection / "archive"
    bucket = open_bucket(settings.url)
    set_archive_address(folder, settings.url)
    return Uploader(folder, bucket, keep_local=settings.keep_local, owner=owner)


def _wait_for_uploads(settings: Settings, store: Store, uploader: Uploader | None) -> Settings:
    """Make every commit wait until the shard's archive files are uploaded.
    The embedded store cannot wait inside a commit without exposing half of it."""
    if uploader is None or not hasattr(store, "before_commit"):
        raise ConfigError("archive.acknowledge = uploaded needs archive.url and the state in a database: --store")
    store.before_commit = uploader.upload_shard
    interval = max(settings.store.commit_interval, settings.archive.upload_interval)
    return replace(
        settings,
        store=replace(settings.store, commit_interval=interval),
        archive=replace(settings.archive, upload_interval=timedelta(0)),
    )


def _warc_files(
    collection: Path, settings: Settings, clock: Clock, owner: str, uploader: Uploader | None
) -> OpenArchive:
    folder = collection / "archive"
    info = WarcInfo(SOFTWARE, {"operator": settings.identity.contact} if settings.identity.contact else {})

    shares = file_shares(concurrency=settings.crawl.concurrency, shards=settings.store.shards)
    files = OpenFiles(shares.shards) if shares.shards < settings.store.shards and uploader is None else None
    before: dict[int, WarcArchive] = {}
    """Archives of shards this worker had before: a shard that comes back continues their numbering."""

    def open_archive(shard: int) -> Archive:
        if uploader is not None:
            uploader.start()
        first_number = before[shard].next_number if shard in before else 1
        before[shard] = opened = WarcArchive(
            folder,
            shard,
            settings=settings.archive,
            clock=clock,
            info=info,
            durable=settings.store.durability == "power",
            owner=FileOwner(owner, first_number) if owner else None,
            on_finished=uploader.notify if uploader is not None else None,
        )
        opened.open_files = files
        return opened

    return open_archive
