"""Every view and every action. A new page is a row here, a collector in `pages/` and a template."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from evercrawl.model.reason import Reason
from evercrawl.web.auth import MAX_PASSWORD_CHARS, AccessScope
from evercrawl.web.pages import administration as cluster
from evercrawl.web.pages import alerts, overview, search
from evercrawl.web.pages import alerts as hubs
from evercrawl.web.pages import crawl as queue
from evercrawl.web.pages import site_pages as traps
from evercrawl.web.pages.alerts import NAME_PARAMETER
from evercrawl.web.protocols import announcements as websub
from evercrawl.web.protocols import cdx
from evercrawl.web.protocols import streams as crawl_log
from evercrawl.web.route import AFTER, API, Action, Parameter, View, limit

_URL = Parameter("url", "The page's URL.", "url", required=True)
_SITE = Parameter("name", "The site's origin or host, such as https://example.org.", required=True)
_REASONS = tuple(reason.value for reason in Reason)
_RULE = (
    Parameter("pattern", "The pattern, as the list has it.", required=True),
    Parameter("site", "Only at this site; none: at all."),
)

VIEWS: tuple[View, ...] = (
    View("overview", "/", "The collection at a glance.", overview.overview, title="Overview"),
    View("live", "/live", "The run under way and the newest visits.", overview.live, title="Live"),
    View(
        "changes",
        "/changes",
        "What changed, grouped, the most significant first.",
        inbox.changes,
        (
            Parameter("since", "From when on: 7d, yesterday, 2026-11-01. Default: 7d.", "moment"),
            Parameter("site", "Only of this site."),
            Parameter("noise", "Also what single pages show by themselves.", "flag", default=False),
            Parameter(
                "state",
                "What nobody has looked at, what somebody has, what is muted, or all.",
                "choice",
                default="new",
                choices=inbox.STATES,
            ),
            limit(50, 200),
        ),
        title="Changes",
    ),
    View(
        "search",
        "/search",
        "Full text search over every version.",
        search.search,
        (*search.SEARCH_PARAMETERS, limit(20, 100)),
        title="Search",
    ),
    View("sites", "/sites", "The sites of the collection.", sites.sites, (AFTER, limit()), title="Sites"),
    View("frontier", "/frontier", "What is queued and due.", queue.frontier, (AFTER, limit()), title="Frontier"),
    View(
        "skipped",
        "/skipped",
        "URLs that were not inputs for, with their reasons.",
        queue.skipped,
        (Parameter("reason", "Only of this reason.", "choice", choices=_REASONS), AFTER, limit()),
        title="Skipped",
    ),
    View(
        "traps",
        "/traps",
        "Patterns that bring nothing, with the evidence; with a pattern, what a rule would touch.",
        traps.traps,
        (
            Parameter("pattern", "Show what leaving this pattern out would touch."),
            Parameter("site", "Only at this site."),
        ),
        title="Traps",
    ),
    View(
        "alerts",
        "/alerts",
        "Every alert; with a name, what an alert of these wishes would have told.",
        alerts.alerts,
        (Parameter("name", "The name of a new alert: show what it would have told."), *alerts.ALERT_PARAMETERS),
        scope=AccessScope.OPERATE,
        title="Alerts",
    ),
    View("hubs", "/hubs", "Hubs that tell us of news, and what was announced.", hubs.websub, title="Hubs"),
    View("runs", "/runs", "The runs, newest first.", care.runs, (AFTER, limit()), title="Runs"),
    View("outposts", "/outposts", "Outposts and what they cost.", care.outposts, title="Outposts"),
    View("cluster", "/cluster", "The workers of a collection in a database.", cluster.cluster, title="Cluster"),
    View("settings", "/settings", "Every setting with its value and origin.", care.settings, title="Settings"),
    View(
        "access",
        "/access",
        "Tokens, password, and the book of changes.",
        care.access,
        (AFTER, limit()),
        scope=AccessScope.ADMIN,
        title="Access",
    ),
    View(
        "alert",
        "/alert",
        "One alert and what became of its messages.",
        alerts.alert,
        (*alerts.LOG_PARAMETERS, AFTER, limit()),
        scope=AccessScope.OPERATE,
    ),
    View("why", "/why", "Why a URL was or was not inputs for.", queue.why, (Parameter("url", "The URL.", "url"),)),
    View("site", "/site", "One site: pace, robots.txt, pages, changes.", sites.site, (_SITE, AFTER, limit())),
    View("load", "/load", "What a site had to bear from us.", sites.load, (_SITE,)),
    View("page", "/page", "A page: versions, visits, what comes next.", past.page, (_URL,)),
    View("links", "/links", "What links to a page, and what it links to.", search.links, (_URL,)),
    View(
        "diff",
        "/diff",
        "What differs between two versions of a page.",
        past.diff,
        (
            _URL,
            Parameter("a", "The older version: v3, -1, or a time. Default: the one before the newest."),
            Parameter("b", "The newer version. Default: the newest."),
        ),
    ),
    View(
        "show",
        "/show",
        "One version: text, headers, links, and where it is replayed.",
        past.show,
        (_URL, Parameter("at", "Which version: v3, -1, or a time. Default: the newest.")),
    ),
    View(
        "run",
        "/run",
        "The report of one run.",
        care.run,
        (Parameter("id", "The run's number.", "whole", required=True),),
    ),
)

ACTIONS: tuple[Action, ...] = (
    Action(
        "start-crawl",
        "Start a crawl of the collection; URLs become seeds.",
        steer.start_crawl,
        (
            Parameter("urls", "URLs to begin with, separated by space; none: what is due.", default=""),
            Parameter("forever", "Keep the collection fresh until stopped.", "flag", default=False),
            Parameter("refresh", "Visit every known page now.", "flag", default=False),
        ),
    ),
    Action("stop-crawl", "Stop the crawl that was started here.", steer.stop_crawl),
    Action(
        "drain-worker",
        "Ask a worker of the cluster to finish, save and end.",
        cluster.drain_worker,
        (Parameter("worker", "The beginning of its id, or `all`.", required=True),),
    ),
    Action("visit-page", "Visit a page as soon as its site allows.", steer.visit_page, (_URL,)),
    Action("exclude-trap", "Leave a pattern out from now on.", traps.exclude_trap, _RULE),
    Action("allow-trap", "Say nothing against a pattern from now on.", traps.allow_trap, _RULE),
    Action("undo-trap", "Take back every word about a pattern.", traps.undo_trap, _RULE),
    Action(
        "slow-site",
        "Leave at least this gap between two requests to a site, also in a crawl that runs.",
        sites.slow_site,
        (_SITE, Parameter("gap", "Seconds.", "whole", required=True, least=1, most=sites.MOST_GAP_S)),
    ),
    Action("undo-slow-site", "A site has the pace of all others again.", sites.undo_slow_site, (_SITE,)),
    Action(
        "review-changes",
        "Changes were looked at: they are news no more, until the same is met later.",
        inbox.review_changes,
        (
            Parameter("until", "`until` of the group or of the list.", "whole", required=True),
            Parameter("keys", "`keys` of the group; none: everything.", default=""),
            Parameter("site", "Without keys: only of this site."),
            Parameter("words", "What it was about.", default=""),
        ),
    ),
    Action(
        "undo-review",
        "Take a review back.",
        inbox.undo_review,
        (Parameter("id", "The review's number.", "whole", required=True),),
    ),
    Action(
        "mute-part",
        "Tell nobody any more of changes in a part of a page or a site; versions are kept as before.",
        inbox.mute_part_of,
        (
            Parameter("pattern", "What stays the same in the part; * stands for anything.", required=True),
            Parameter("page", "The page's URL: only there."),
            Parameter("site", "The site's origin: on all its pages."),
        ),
    ),
    Action(
        "undo-mute",
        "Changes in a part are told again.",
        inbox.undo_mute,
        (Parameter("id", "The mute's number.", "whole", required=True),),
    ),
    Action(
        "add-alert",
        "A new alert; the secret of a webhook is shown this once.",
        alerts.add_alert,
        (
            alerts.NAME_PARAMETER,
            *alerts.ALERT_PARAMETERS,
            Parameter("replace", "Change the alert of this name, if there is one.", "flag", default=False),
        ),
    ),
    Action("subscribe", "Ask the hub of a page or feed to tell us of its news.", hubs.subscribe, (_URL,)),
    Action(
        "unsubscribe",
        "Ask a hub to tell us no more.",
        hubs.unsubscribe,
        (Parameter("topic", "What the subscription is about.", required=True),),
    ),
    Action("test-alert", "Send a test message now.", alerts.test_alert, (alerts.NAME_PARAMETER,)),
    Action("retry-alert", "Send again what was set aside.", alerts.retry_alert, (alerts.NAME_PARAMETER,)),
    Action(
        "remove-alert", "Take an alert away, with what waits for it.", alerts.remove_alert, (alerts.NAME_PARAMETER,)
    ),
    Action(
        "set-setting",
        "Change one of the settings that can be changed safely.",
        care.set_setting,
        (
            Parameter("key", "Such as revisit.budget.", required=True),
            Parameter("value", "As in the settings file; `none` for no value.", required=True),
        ),
        scope=AccessScope.ADMIN,
    ),
    Action(
        "add-token",
        "A new token for programs; its secret is shown this once.",
        care.add_token,
        (
            Parameter("name", "What it is for.", required=True),
            Parameter("scope", "What it may do.", "choice", default="read", choices=("read", "operate", "admin")),
        ),
        scope=AccessScope.ADMIN,
    ),
    Action(
        "drop-token",
        "Take a token's worth away.",
        care.drop_token,
        (Parameter("id", "The token's number.", "whole", required=True),),
        scope=AccessScope.ADMIN,
    ),
    Action(
        "set-password",
        f"A new password of up to {MAX_PASSWORD_CHARS} characters; every session ends.",
        care.set_password,
        (Parameter("password", "The new password.", required=True),),
        scope=AccessScope.ADMIN,
        secret=frozenset({"password"}),
    ),
)

CHARTS = {
    "overview": overview.overview_charts,
    "site": sites.site_charts,
    "load": sites.load_charts,
    "frontier": queue.frontier_charts,
    "page": past.page_charts,
}
"""Pictures that pages show beside what their JSON twin has."""


@dataclass(frozen=True, slots=True)
class ProtocolRoute:
    """One route; `in_path` names what stands at the end of the path."""

    name: str
    path: str
    text: str
    media_types: tuple[str, ...]
    methods: tuple[str, ...] = ("GET",)
    parameters: tuple[Parameter, ...] = ()
    body: tuple[Parameter, ...] = ()
    scope: AccessScope | None = AccessScope.READ
    """None: anybody may ask."""
    in_path: str = ""
    statuses: Mapping[str, str] = field(default_factory=dict)
    is_archive: bool = False
    """Open to anybody with `--public-archive`."""

    @property
    def described_path(self) -> str:
        """The path as the description of the API writes it."""
        return self.path.replace(":path}", "}")


_MEMENTO = {"302": "The version that is nearest; mementos lie on the origin of replay."}

PROTOCOLS: tuple[ProtocolRoute, ...] = (
    ProtocolRoute(
        "events", f"{API}/events", "Visits as they happen, as NDJSON or server-sent events.",
        ("application/x-ndjson", "text/event-stream"), parameters=events.EVENT_PARAMETERS,
    ),
    ProtocolRoute(
        "crawl-log", "/crawl.log", "Every visit, oldest first, in the form of Heritrix's crawl.log.",
        ("text/plain",), parameters=crawl_log.LOG_PARAMETERS,
    ),
    ProtocolRoute(
        "cdx", "/cdx", "CDX query of the stored versions.", ("text/plain", "application/x-ndjson"),
        parameters=cdx.CDX_PARAMETERS, is_archive=True,
    ),
    ProtocolRoute(
        "timemap-link", "/web/timemap/link/{url:path}", "TimeMap of a URL (RFC 7089).",
        ("application/link-format",), in_path="url", is_archive=True,
    ),
    ProtocolRoute(
        "timemap-json", "/web/timemap/json/{url:path}", "TimeMap of a URL as JSON.", ("application/json",),
        in_path="url", is_archive=True,
    ),
    ProtocolRoute(
        "timegate", "/web/{url:path}", "TimeGate of a URL (RFC 7089): heeds Accept-Datetime.", ("text/html",),
        in_path="url", statuses=_MEMENTO, is_archive=True,
    ),
    ProtocolRoute(
        "indexnow", "/indexnow", "IndexNow: pages that changed, told by their site's owner.", ("text/plain",),
        methods=("GET", "POST"), parameters=indexnow.INDEXNOW_PARAMETERS, body=indexnow.INDEXNOW_BODY, scope=None,
        statuses={"202": "Heard, and queued.", "422": "The URLs are not of the host or the collection."},
    ),
    ProtocolRoute(
        "websub", "/websub/{token}", "WebSub: hubs check what we inputs for, and bring news.", ("text/plain",),
        methods=("GET", "POST"), parameters=websub.WEBSUB_PARAMETERS, scope=None, in_path="token",
        statuses={"202": "Heard.", "410": "The subscription has ended."},
    ),
    ProtocolRoute(
        "changes-atom", "/changes.atom", "Atom feed of changes.", ("application/atom+xml",),
        parameters=atom.CHANGES_PARAMETERS,
    ),
    ProtocolRoute(
        "search-atom", "/search.atom", "Atom feed of any search.", ("application/atom+xml",),
        parameters=atom.SEARCH_PARAMETERS,
    ),
    ProtocolRoute(
        "alert-atom", "/alert.atom", "Atom feed that an alert writes.", ("application/atom+xml",),
        parameters=(NAME_PARAMETER,),
    ),
    ProtocolRoute("metrics", "/metrics", "Metrics for Prometheus.", ("text/plain",)),
    ProtocolRoute("healthz", "/healthz", "The process answers.", ("text/plain",), scope=None),
    ProtocolRoute("readyz", "/readyz", "The collection can be read.", ("text/plain",), scope=None),
)  # fmt: skip
