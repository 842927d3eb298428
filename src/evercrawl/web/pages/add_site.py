"""The page `add`: enter URLs, look at their sites, choose what to crawl, and start."""

from __future__ import annotations

import asyncio
import logging
import re
import secrets
import threading
from dataclasses import asdict, replace
from typing import Any

from evercrawl.collection.overrides import page_place, set_schedule
from evercrawl.collection.runs import live_run
from evercrawl.collection.site_preview import SitePreview, preview_site
from evercrawl.collection.urls import read_url_list, site_of
from evercrawl.config import collection_file, write_setting
from evercrawl.errors import ConfigError, EvercrawlError
from evercrawl.model.sanitize import mask_passwords
from evercrawl.model.settings import Settings
from evercrawl.web.app_state import AppState
from evercrawl.web.format import link_to, plural
from evercrawl.web.pages.alerts import ALERT_PARAMETERS, add_alert, mail_problem, registry_of
from evercrawl.web.pages.site_pages import EXAMPLES, WHEN, ZONE
from evercrawl.web.route import ActionResult, BadRequest, Inputs, Parameter

log = logging.getLogger("evercrawl")
MAX_TEXT_CHARS = 900_000  # Of the URLs, or of a file with them.
MAX_LINK_CHARS = 50_000  # Of the URLs in a link.
MAX_BACK_CHARS = 1500  # Of a refused text that the form shows again.
MAX_LOOKS = 5  # Sites that are checked; the others are added without.
MAX_JOBS = 20  # The oldest look is forgotten.
MAX_ALERT_PLACES = 20  # With more, the alert reports every page.
URLS = Parameter("urls", "URLs, or the content of a list, sitemap, OPML or bookmarks file.", longest=MAX_TEXT_CHARS)
LOOK = Parameter("look", "Key of a look.", default="")
LOOK_PARAMETERS = (LOOK, replace(URLS, longest=MAX_LINK_CHARS))
ADD_PARAMETERS = (
    LOOK,
    URLS,
    Parameter("extent", "How much to crawl of each.", "choice", default="site", choices=("page", "section", "site")),
    Parameter("watch", "Keep watching for changes.", "bool", default=False),
    Parameter("assets", "Also store styles, images, fonts and scripts.", "bool", default=False),
    Parameter("notify", "How to report changes.", "choice", default="none", choices=("none", "atom", "mail")),
    Parameter("address", "Mail address for changes.", default=""),
    WHEN,
    ZONE,
    Parameter("quick", "Keep watching just these pages, with a feed; no other choices.", "bool", default=False),
)


class SiteLook:
    """A look at the sites of some URLs, in a thread of its own."""

    def __init__(self, urls: list[str], settings: Settings) -> None:
        self.urls = urls
        self.found: dict[str, SitePreview | None] = dict.fromkeys(_one_per_site(urls)[:MAX_LOOKS])
        self.requested: list[str] = []
        self.problem = ""
        self.chosen: dict[str, Any] = {}
        self._settings = settings
        threading.Thread(target=self._run, daemon=True).start()

    @property
    def is_done(self) -> bool:
        """Return whether every site has been checked."""
        return all(self.found.values())

    def _run(self) -> None:
        async def look_at_all() -> None:
            await asyncio.gather(*(self._look(url) for url in self.found))

        asyncio.run(look_at_all())

    async def _look(self, url: str) -> None:
        try:
            self.found[url] = await preview_site(url, self._settings, on_request=self.requested.append)
        except EvercrawlError as error:
            self.found[url] = SitePreview(url, problem=str(error))
        except Exception:
            log.exception("bug while looking at %s", url)
            self.found[url] = SitePreview(url, problem="it could not be checked; see evercrawl.log")


def _one_per_site(urls: list[str]) -> list[str]:
    return list({site_of(url): url for url in reversed(urls)}.values())[::-1]


def add(state: AppState, inputs: Inputs) -> dict[str, Any]:
    """Show a look at new sites."""
    look: SiteLook | None = state.looks.get(inputs["look"])
    text, problem = (inputs["urls"] or "").strip(), None
    if text:
        try:
            read_url_list(text)
        except ConfigError as error:
            problem = str(error)
    if inputs["look"] and look is None:
        problem = "this preview has expired; enter the URLs again"
    return {
        "text": text,
        "problem": problem,
        "look": None if look is None else _look_fields(inputs["look"], look),
        "mail_problem": mail_problem(state),
        "examples": EXAMPLES,
        "seeds": state.settings.scope.seeds,
    }


def _look_fields(key: str, look: SiteLook) -> dict[str, Any]:
    return {
        "key": key,
        "urls": look.urls[:50],
        "count": len(look.urls),
        "done": look.is_done,
        "problem": look.problem,
        "chosen": look.chosen,
        "requested": look.requested[-8:],
        "sites": [
            {"asked": url, "preview": found and asdict(found), "site_s": found and found.site_s}
            for url, found in look.found.items()
        ],
        "unseen": len(_one_per_site(look.urls)) - len(look.found),
        "reachable": any(one is not None and one.problem is None for one in look.found.values()),
    }  # fmt: skip


def look_at_sites(state: AppState, inputs: Inputs) -> ActionResult:
    """Look at the sites of URLs before crawling them."""
    urls = read_urls(inputs["urls"] or "")
    if state.preview_limit.wait_s("look"):
        raise BadRequest("too many previews; wait a minute", 429)
    key = secrets.token_urlsafe(12)
    state.looks[key] = SiteLook(urls, state.settings)
    while len(state.looks) > MAX_JOBS:
        state.looks.popitem(last=False)
    return ActionResult("", link_to("/add", look=key), {"look": key, "urls": len(urls)})


def read_urls(text: str) -> list[str]:
    """Return the URLs that were entered; raise BadRequest, which leads back to the form, if there is none."""
    try:
        return read_url_list(text)
    except ConfigError as error:
        raise BadRequest(
            str(error), back=link_to("/add", urls=mask_passwords(text.strip())[:MAX_BACK_CHARS])
        ) from error


def add_sites(state: AppState, inputs: Inputs) -> ActionResult:
    """Add URLs to the collection, set up a notification if wanted, and start the crawl."""
    look: SiteLook | None = state.looks.get(inputs["look"])
    urls = look.urls if look is not None else read_urls(inputs["urls"] or "")
    if inputs["quick"]:
        inputs = Inputs({**inputs.values, "extent": "page", "watch": True, "notify": "atom"}, inputs.user, inputs.host)
    if inputs["notify"] == "mail" and "@" not in inputs["address"]:
        raise _refused(look, inputs, "Enter the mail address for notifications.")
    try:
        _set_schedules(state, urls, inputs)
    except ConfigError as error:
        raise _refused(look, inputs, str(error)) from error
    _save(state, urls, inputs)
    told = _add_alert(state, urls, inputs) if inputs["notify"] != "none" else ""
    state.looks.pop(inputs["look"], None)
    data = {"urls": len(urls)}
    was_watching = state.settings.web.keep_watching
    state.crawl.close()
    if live_run(state.path, now=state.now()) is not None:
        message = "Added. A crawl that was started elsewhere is running; the next one fetches the new pages."
        return ActionResult(message + told, "/live", data)
    state.crawl.start([], forever=inputs["watch"] or was_watching)
    return ActionResult(f"{plural(len(urls), 'URL')} added. Crawl started.{told}", "/live", data)


def _refused(look: SiteLook | None, inputs: Inputs, problem: str) -> BadRequest:
    """Return the error that leads back to the choices, which say what is wrong."""
    if look is None:
        return BadRequest(problem)
    look.problem, look.chosen = problem, dict(inputs.values)
    return BadRequest(problem, back=link_to("/add", look=inputs["look"]))


def _set_schedules(state: AppState, urls: list[str], inputs: Inputs) -> None:
    """Set the schedule of what is watched, if one was entered."""
    text, extent = (inputs["schedule"] or "").strip(), inputs["extent"]
    if not text or not inputs["watch"]:
        return
    end = "/" * (extent == "section")
    for place in dict.fromkeys(page_place(url) if extent == "page" else _folder(url, extent) + end for url in urls):
        set_schedule(state.path, place, text, zone=inputs["zone"] or "", now=state.now())


def _folder(url: str, extent: str) -> str:
    return url.partition("?")[0].rpartition("/")[0] if extent == "section" else site_of(url)


def _save(state: AppState, urls: list[str], inputs: Inputs) -> None:
    """Write the new seeds and choices to the collection's settings."""
    file, scope = collection_file(state.path), state.settings.scope

    def with_urls(known: tuple[str, ...], *, wanted: bool) -> tuple[str, ...]:
        others = tuple(one for one in known if one not in urls)
        return (*others, *urls) if wanted else others

    write_setting(file, "scope.seeds", tuple(dict.fromkeys((*scope.seeds, *urls))))
    for key, known, extent in (("scope.pages", scope.pages, "page"), ("scope.sections", scope.sections, "section")):
        if known or inputs["extent"] == extent:
            write_setting(file, key, with_urls(known, wanted=inputs["extent"] == extent))
    if inputs["assets"]:
        write_setting(file, "assets.enabled", True)
    if inputs["watch"]:
        write_setting(file, "web.keep_watching", True)


def _add_alert(state: AppState, urls: list[str], inputs: Inputs) -> str:
    """Add an alert for the pages, and return what the message says about it."""
    names = {one.alert.name for one in registry_of(state).all()}
    base = re.sub(r"[^A-Za-z0-9]+", "-", site_of(urls[0]).partition("://")[2]).strip("-")[:40] or "changes"
    name = next(one for one in (base, *(f"{base}-{n}" for n in range(2, 10_000))) if one not in names)
    values: dict[str, Any] = {one.name: one.default for one in ALERT_PARAMETERS}
    values |= {"name": name, "channel": inputs["notify"], "address": inputs["address"].strip(), "replace": False}
    if len(urls) <= MAX_ALERT_PLACES:
        values |= _alert_places(urls, inputs["extent"])
    return " " + add_alert(state, Inputs(values, inputs.user, inputs.host)).message


def _alert_places(urls: list[str], extent: str) -> dict[str, str]:
    if extent == "page":
        return {"pages": " ".join(urls)}
    return {"patterns": " ".join(f"{folder}/*" for folder in dict.fromkeys(_folder(url, extent) for url in urls))}
