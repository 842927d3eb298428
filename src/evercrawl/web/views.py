"""Every view, action and protocol route. A new page is a row here, a function in `pages/` and a template."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from evercrawl.collection.table_view import table_columns
from evercrawl.errors import BugFound
from evercrawl.web.access_control import UPLOAD_PATH
from evercrawl.web.auth import MAX_PASSWORD_CHARS, AccessScope
from evercrawl.web.pages import (
    add_site,
    administration,
    alerts,
    backups,
    changes_page,
    crawl,
    data,
    history,
    overview,
    removals,
    reports,
    search,
    site_pages,
)
from evercrawl.web.pages.field_pages import AT, FIELD_ACTIONS, FIELD_VIEWS, field_charts
from evercrawl.web.protocols import announcements, atom_feeds, cdx, streams
from evercrawl.web.route import AFTER, API, SITE_PARAMETER, URL_PARAMETER, Action, Parameter, View, limit
from evercrawl.web.table_page import as_table, table_parameters

_URL, _SITE = URL_PARAMETER, SITE_PARAMETER
_RULE = (
    Parameter("pattern", "The pattern, as in the list.", required=True),
    Parameter("site", "Only on this site. Default: all."),
)
_PART = (
    Parameter("pattern", "Text that stays the same in the part; * matches anything.", required=True),
    Parameter("page", "Only on this page (URL)."),
    Parameter("site", "On all pages of this site (origin)."),
)
_PAGE_COLUMNS = table_columns("pages")


def _table(name: str, key: str) -> dict[str, Any]:
    return as_table(key, table_columns(name))


def _id(what: str) -> tuple[Parameter, ...]:
    return (Parameter("id", f"Number of the {what}.", "integer", required=True),)


VIEWS: tuple[View, ...] = (
    View("/", "/overview", overview.overview, title="Overview"),
    View("/add", "/previews", add_site.add, add_site.LOOK_PARAMETERS),
    View("/live", "/runs/current", overview.live, title="Live", group="Crawl"),
    View(
        "/changes",
        "/changes",
        changes_page.changes,
        (
            Parameter("since", "Changes since then: 7d, yesterday, 2026-11-01. Default: 7d.", "time"),
            Parameter("site", "Only on this site."),
            Parameter("noise", "Also list what the last visits called noise.", "bool", default=False),
            Parameter(
                "state", "Unread, read, muted, or all changes.", "choice", default="unread", choices=changes_page.STATES
            ),
            limit(50, 200),
        ),
        title="Changes",
    ),
    View("/search", "/search", search.search, (*search.SEARCH_PARAMETERS, limit(20, 100)), title="Search"),
    View("/sites", "/sites", site_pages.sites, title="Sites", **_table("sites", "sites")),
    View("/pages", "/pages", site_pages.pages, title="Pages", group="Crawl", **_table("pages", "pages")),
    View("/versions", "/versions", site_pages.versions, **_table("versions", "versions")),
    View("/change-list", "/change-list", changes_page.change_list, **_table("change-list", "changes")),
    View("/frontier", "/queue", crawl.frontier, title="Queue", group="Crawl", **_table("queue", "pages")),
    View("/skipped", "/skipped", crawl.skipped, title="Skipped", group="Crawl", **_table("skipped", "skipped")),
    View(
        "/traps",
        "/traps",
        site_pages.traps,
        (
            *table_parameters(site_pages.TRAP_COLUMNS),
            Parameter("preview", "Preview what excluding this pattern would affect."),
            Parameter("preview_site", "Only on this site."),
        ),
        table="traps",
        columns=site_pages.TRAP_COLUMNS,
        title="Traps",
        group="Crawl",
    ),
    View(
        "/alerts",
        "/alerts",
        alerts.alerts,
        (Parameter("name", "Name of a new alert to preview."), *alerts.ALERT_PARAMETERS),
        scope=AccessScope.OPERATE,
        title="Alerts",
    ),
    View(
        "/websub", "/subscriptions", alerts.websub, title="WebSub", group="Advanced", is_used=alerts.has_subscriptions
    ),
    View("/runs", "/runs", overview.runs, title="Runs", group="Crawl", **as_table("runs", overview.RUN_COLUMNS)),
    View(
        "/outposts",
        "/outposts",
        administration.outposts,
        title="Outposts",
        group="Advanced",
        is_used=administration.has_outposts,
    ),
    View(
        "/cluster",
        "/workers",
        administration.cluster,
        title="Cluster",
        group="Advanced",
        is_used=administration.has_workers,
    ),
    View(
        "/settings", "/settings", administration.settings, (Parameter("q", "Only with these words."),), title="Settings"
    ),
    View("/mail", "/mail", alerts.mail, scope=AccessScope.ADMIN),
    View(
        "/link-problems",
        "/link-problems",
        reports.link_problems,
        title="Links to fix",
        group="Reports",
        **as_table("links", reports.LINK_COLUMNS),
    ),
    View(
        "/orphans",
        "/orphans",
        reports.orphans,
        title="Orphan pages",
        group="Reports",
        **as_table("pages", reports.ORPHAN_COLUMNS),
    ),
    View("/graph", "/graph", reports.graph, reports.GRAPH_PARAMETERS, title="Link graph", group="Reports"),
    View("/plan", "/plan", reports.plan, reports.PLAN_PARAMETERS, title="Plan", group="Reports"),
    View(
        "/sitemap-check",
        "/sitemap-checks",
        reports.sitemap_check,
        (Parameter("site", "Site to check next."),),
        title="Sitemap check",
        group="Reports",
    ),
    View("/storage", "/storage", data.storage, title="Storage", group="Data"),
    View("/export", "/exports", data.export, title="Export", group="Data"),
    View("/backups", "/backups", backups.backups, scope=AccessScope.ADMIN, title="Backups", group="Data"),
    View("/removals", "/removals", removals.removals, scope=AccessScope.OPERATE, title="Removals", group="Data"),
    View("/remove", "/removal-preview", removals.remove, removals.PREVIEW_PARAMETERS, scope=AccessScope.OPERATE),
    View(
        "/access",
        "",
        administration.access,
        (AFTER, limit()),
        scope=AccessScope.ADMIN,
        title="Access",
        group="Advanced",
    ),
    View("/alert", "/alerts/{name}", alerts.alert, (*alerts.LOG_PARAMETERS, AFTER, limit()), scope=AccessScope.OPERATE),
    View("/why", "/pages/{url}/why", crawl.why, (Parameter("url", "The URL.", "url"),)),
    View(
        "/site",
        "/sites/{name}",
        site_pages.site,
        (_SITE, *(one for one in table_parameters(_PAGE_COLUMNS) if one.name != "site")),
        table="pages",
        columns=_PAGE_COLUMNS,
    ),
    View("/load", "/sites/{name}/load", site_pages.load, (_SITE,)),
    View("/page", "/pages/{url}", history.page, (_URL, Parameter("checked", "Time of a requested visit.", "time"))),
    View("/links", "/pages/{url}/links", search.links, (_URL,)),
    View("/diff", "/pages/{url}/diff", history.diff, (_URL, *history.DIFF_PARAMETERS)),
    View("/show", "/pages/{url}/versions/{at}", history.show, (_URL, AT)),
    View("/run", "/runs/{id}", overview.run, _id("run")),
    *FIELD_VIEWS,
)

ACTIONS: tuple[Action, ...] = (
    *FIELD_ACTIONS,
    Action(
        "POST /runs",
        crawl.start_crawl,
        (
            Parameter("urls", "Start URLs, separated by spaces. Default: what is due.", default=""),
            Parameter("forever", "Keep the collection up to date until stopped.", "bool", default=False),
            Parameter("refresh", "Visit every known page now.", "bool", default=False),
        ),
        status=202,
    ),
    Action("POST /previews", add_site.look_at_sites, (add_site.URLS,), status=202),
    Action("POST /sites", add_site.add_sites, add_site.ADD_PARAMETERS, status=202),
    Action("DELETE /runs/current", crawl.stop_crawl, status=202),
    Action(
        "PATCH /runs/current",
        crawl.update_crawl,
        (
            Parameter("paused", "Send no requests.", "bool"),
            Parameter("refresh", "Visit every known page now.", "bool", default=False),
        ),
    ),
    Action("DELETE /sites/{name}", removals.remove_site, (_SITE, removals.REQUEST)),
    Action("DELETE /pages/{url}", removals.remove_page, (_URL, removals.REQUEST)),
    Action(
        "DELETE /pages/{url}/versions/{at}",
        removals.remove_version,
        (_URL, Parameter("at", "Version, such as v3.", required=True), removals.REQUEST),
    ),
    Action("DELETE /removals/{id}", removals.undo_removal, (removals.ID,)),
    Action("POST /backups", backups.make_backup, scope=AccessScope.ADMIN, status=202),
    Action(
        "POST /backups/{name}/restores", backups.restore_backup, (backups.NAME,), scope=AccessScope.ADMIN, status=202
    ),
    Action("DELETE /backups/{name}", backups.remove_backup, (backups.NAME,), scope=AccessScope.ADMIN, status=204),
    Action("POST /exports", data.start_export, data.EXPORT_PARAMETERS, status=202),
    Action("POST /verifications", data.start_verification, status=202),
    Action(
        "POST /sitemap-checks",
        reports.start_sitemap_check,
        (Parameter("url", "The site, or its sitemap.", "url", required=True),),
        status=202,
    ),
    Action("DELETE /jobs/{id}", data.forget_job, (data.JOB_ID,), status=204),
    Action(
        "PUT /mail", alerts.set_mail, alerts.MAIL_PARAMETERS, scope=AccessScope.ADMIN, secret=frozenset({"password"})
    ),
    Action("POST /mail/tests", alerts.test_mail, (alerts.ADDRESS,), scope=AccessScope.ADMIN),
    Action(
        "DELETE /workers/{worker}",
        administration.drain_worker,
        (Parameter("worker", "Start of its id, or `all`.", required=True),),
        status=202,
    ),
    Action("POST /pages/{url}/visits", crawl.visit_page, (_URL,), status=202),
    Action(
        "POST /trap-rules",
        site_pages.set_trap_rule,
        (*_RULE, Parameter("action", "What to do with it.", "choice", required=True, choices=("exclude", "allow"))),
        status=201,
    ),
    Action("DELETE /trap-rules", site_pages.undo_trap, _RULE, status=204),
    Action(
        "PUT /sites/{name}/delay",
        site_pages.slow_site,
        (_SITE, Parameter("gap", "Seconds.", "integer", required=True, minimum=1, maximum=site_pages.MAX_DELAY_S)),
    ),
    Action("DELETE /sites/{name}/delay", site_pages.undo_slow_site, (_SITE,), status=204),
    Action(
        "POST /read-marks",
        changes_page.mark_read,
        (
            Parameter("until", "`until` of the group or of the list.", "integer", required=True),
            Parameter("keys", "`keys` of the group. Default: all changes.", default=""),
            Parameter("site", "Without keys: only changes on this site."),
            Parameter("label", "Short description for the list of what was read.", default=""),
        ),
        status=201,
    ),
    Action("DELETE /read-marks/{id}", changes_page.undo_mark_read, _id("read mark"), status=204),
    Action("POST /mutes", changes_page.mute_part, _PART, status=201),
    Action("POST /reported-parts", changes_page.report_part, _PART, status=201),
    Action("DELETE /mutes/{id}", changes_page.undo_mute, _id("mute"), status=204),
    Action(
        "POST /alerts",
        alerts.add_alert,
        (
            alerts.NAME_PARAMETER,
            *alerts.ALERT_PARAMETERS,
            Parameter("replace", "Replace an existing alert of this name.", "bool", default=False),
        ),
        status=201,
    ),
    Action("POST /subscriptions", alerts.subscribe, (_URL,), status=202),
    Action(
        "DELETE /subscriptions/{topic}",
        alerts.unsubscribe,
        (Parameter("topic", "Topic of the subscription.", required=True),),
        status=202,
    ),
    Action("POST /alerts/{name}/tests", alerts.test_alert, (alerts.NAME_PARAMETER,)),
    Action("POST /alerts/{name}/retries", alerts.retry_alert, (alerts.NAME_PARAMETER,), status=202),
    Action(
        "PATCH /alerts/{name}",
        alerts.update_alert,
        (alerts.NAME_PARAMETER, Parameter("paused", "Send no messages.", "bool", required=True)),
    ),
    Action("DELETE /alerts/{name}", alerts.remove_alert, (alerts.NAME_PARAMETER,), status=204),
    Action(
        "PATCH /settings/{key}",
        administration.set_setting,
        (
            Parameter("key", "Name of the setting, such as revisit.budget.", required=True),
            Parameter("value", "Value as in the settings file; `none` for no value.", required=True),
        ),
        scope=AccessScope.ADMIN,
    ),
    Action(
        "POST /tokens",
        administration.add_token,
        (
            Parameter("name", "What the token is for.", required=True),
            Parameter("scope", "What it may do.", "choice", default="read", choices=("read", "operate", "admin")),
        ),
        scope=AccessScope.ADMIN,
        status=201,
    ),
    Action("DELETE /tokens/{id}", administration.revoke_token, _id("token"), scope=AccessScope.ADMIN, status=204),
    Action(
        "PUT /password",
        administration.set_password,
        (Parameter("password", f"The new password, up to {MAX_PASSWORD_CHARS} characters.", required=True),),
        scope=AccessScope.ADMIN,
        secret=frozenset({"password"}),
        status=204,
    ),
    *site_pages.SCHEDULE_ACTIONS,
)

RESOURCES: tuple[View, ...] = (
    View("", "/tokens", administration.tokens, scope=AccessScope.ADMIN),
    View("", "/audit-log", administration.audit_log, (AFTER, limit()), scope=AccessScope.ADMIN),
    View("", "/jobs", data.jobs),
    View("", "/jobs/{id}", data.job, (data.JOB_ID,)),
    View("", "/removals/{id}", removals.removal, (removals.ID,), scope=AccessScope.OPERATE),
    View("", "/pages/{url}/versions", history.page_versions, (_URL,)),
    site_pages.SCHEDULE_VIEW,
    View("", "/read-marks", changes_page.read_marks),
    View("", "/mutes", changes_page.mutes),
)
"""Views of the API alone."""


def operations(
    views: tuple[View, ...] = (*VIEWS, *RESOURCES), actions: tuple[Action, ...] = ACTIONS
) -> dict[str, dict[str, View | Action]]:
    """Return the resources of the API with their methods."""
    found: dict[str, dict[str, View | Action]] = {}
    for view in views:
        if view.resource:
            found.setdefault(view.resource, {})["GET"] = view
    for action in actions:
        if found.setdefault(action.resource, {}).setdefault(action.method, action) is not action:
            raise BugFound(f"two actions for {action.operation}")
    return found


CHARTS = {
    "overview": overview.overview_charts,
    "site": site_pages.site_charts,
    "load": site_pages.load_charts,
    "frontier": crawl.frontier_charts,
    "graph": reports.graph_charts,
    "page": history.page_charts,
    "fields": field_charts,
}
"""Charts of pages, drawn from the data of their JSON."""


@dataclass(frozen=True, slots=True)
class ProtocolRoute:
    """A route of a standard protocol or a stream; `in_path` names the parameter at the end of the path."""

    name: str
    path: str
    text: str
    media_types: tuple[str, ...]
    methods: tuple[str, ...] = ("GET",)
    parameters: tuple[Parameter, ...] = ()
    body: tuple[Parameter, ...] = ()
    scope: AccessScope | None = AccessScope.READ  # None: open to everyone.
    in_path: str = ""
    statuses: Mapping[str, str] = field(default_factory=dict)
    is_archive: bool = False  # Open to everyone with `--public-archive`.
    ignores_unknown: bool = False  # Unknown parameters are no error, as its clients expect.

    @property
    def openapi_path(self) -> str:
        """Return the path as OpenAPI writes it."""
        return self.path.replace(":path}", "}")


PROTOCOLS: tuple[ProtocolRoute, ...] = (
    ProtocolRoute(
        "events",
        f"{API}/events",
        "Stream visits as they happen, as NDJSON or server-sent events.",
        ("application/x-ndjson", "text/event-stream"),
        parameters=streams.EVENT_PARAMETERS,
    ),
    ProtocolRoute(
        "crawl-log",
        "/crawl.log",
        "Download every visit, oldest first, in the format of Heritrix's crawl.log.",
        ("text/plain",),
        parameters=streams.LOG_PARAMETERS,
    ),
    ProtocolRoute(
        "cdx",
        "/cdx",
        "Query the stored versions as CDX.",
        ("text/plain", "application/x-ndjson", "application/json"),
        parameters=cdx.CDX_PARAMETERS,
        is_archive=True,
        ignores_unknown=True,
    ),
    ProtocolRoute(
        "cdx-wayback",
        "/cdx/search/cdx",
        "Query the stored versions as in the Wayback Machine.",
        ("text/plain", "application/json"),
        parameters=cdx.WAYBACK_PARAMETERS,
        is_archive=True,
        ignores_unknown=True,
    ),
    ProtocolRoute(
        "timemap-link",
        "/web/timemap/link/{url:path}",
        "Get the TimeMap of a URL (RFC 7089).",
        ("application/link-format",),
        in_path="url",
        is_archive=True,
    ),
    ProtocolRoute(
        "timemap-json",
        "/web/timemap/json/{url:path}",
        "Get the TimeMap of a URL as JSON.",
        ("application/json",),
        in_path="url",
        is_archive=True,
    ),
    ProtocolRoute(
        "timegate",
        "/web/{url:path}",
        "Get the version nearest to Accept-Datetime (TimeGate, RFC 7089).",
        ("text/html",),
        in_path="url",
        is_archive=True,
        statuses={"302": "The nearest version, on the origin of archived pages."},
    ),
    ProtocolRoute(
        "indexnow",
        "/indexnow",
        "Announce changed pages as the owner of a site (IndexNow).",
        ("text/plain",),
        methods=("GET", "POST"),
        parameters=announcements.INDEXNOW_PARAMETERS,
        body=announcements.INDEXNOW_BODY,
        scope=None,
        statuses={"202": "Accepted.", "422": "The URLs are not of the host or the collection."},
    ),
    ProtocolRoute(
        "websub",
        "/websub/{token}",
        "Confirm a subscription or deliver updates as a hub (WebSub).",
        ("text/plain",),
        methods=("GET", "POST"),
        parameters=announcements.WEBSUB_PARAMETERS,
        scope=None,
        in_path="token",
        statuses={"202": "Accepted.", "410": "The subscription has ended."},
    ),
    ProtocolRoute(
        "changes-atom",
        "/changes.atom",
        "Get an Atom feed of changes.",
        ("application/atom+xml",),
        parameters=atom_feeds.CHANGES_PARAMETERS,
    ),
    ProtocolRoute(
        "search-atom",
        "/search.atom",
        "Get an Atom feed of a search.",
        ("application/atom+xml",),
        parameters=atom_feeds.SEARCH_FEED_PARAMETERS,
    ),
    ProtocolRoute(
        "alert-atom",
        "/alert.atom",
        "Get the Atom feed of an alert.",
        ("application/atom+xml",),
        parameters=(alerts.NAME_PARAMETER,),
    ),
    ProtocolRoute(
        "graph-picture",
        "/graph.svg",
        "Get the structure of the collection or of a site as a picture.",
        ("image/svg+xml",),
        parameters=(Parameter("site", "Only this host or origin."),),
    ),
    ProtocolRoute(
        "job-file",
        f"{API}/jobs/{{id}}/file",
        "Download the file of a task.",
        ("application/octet-stream",),
        in_path="id",
    ),
    ProtocolRoute(
        "backup-upload",
        UPLOAD_PATH,
        "Upload the TAR file of a backup. It is checked when it is restored.",
        ("application/json",),
        methods=("POST",),
        scope=AccessScope.ADMIN,
        statuses={"201": "Stored."},
    ),
    ProtocolRoute(
        "backup-file",
        f"{API}/backups/{{name}}/file",
        "Download a backup as a TAR file.",
        ("application/x-tar",),
        in_path="name",
        scope=AccessScope.ADMIN,
    ),
    ProtocolRoute("metrics", "/metrics", "Get metrics for Prometheus.", ("text/plain",)),
    ProtocolRoute("healthz", "/healthz", "Check that the process responds.", ("text/plain",), scope=None),
    ProtocolRoute("readyz", "/readyz", "Check that the collection can be read.", ("text/plain",), scope=None),
)
