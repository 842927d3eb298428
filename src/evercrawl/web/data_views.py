"""Views and actions of reports and data: links to fix, storage, exports, backups, removals, mail."""

from __future__ import annotations

from evercrawl.web.auth import AccessScope
from evercrawl.web.pages import alerts, backups, data, removals, reports
from evercrawl.web.route import SITE_PARAMETER, URL_PARAMETER, Action, Parameter, View
from evercrawl.web.table_page import as_table

DATA_VIEWS: tuple[View, ...] = (
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
)

DATA_ACTIONS: tuple[Action, ...] = (
    Action("DELETE /sites/{name}", removals.remove_site, (SITE_PARAMETER, removals.REQUEST)),
    Action("DELETE /pages/{url}", removals.remove_page, (URL_PARAMETER, removals.REQUEST)),
    Action(
        "DELETE /pages/{url}/versions/{at}",
        removals.remove_version,
        (URL_PARAMETER, Parameter("at", "Version, such as v3.", required=True), removals.REQUEST),
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
)

DATA_RESOURCES: tuple[View, ...] = (
    View("", "/jobs", data.jobs),
    View("", "/jobs/{id}", data.job, (data.JOB_ID,)),
    View("", "/removals/{id}", removals.removal, (removals.ID,), scope=AccessScope.OPERATE),
)
"""Views of the API alone."""
