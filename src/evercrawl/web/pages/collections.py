"""The pages of a folder of collections: all of them, search across them, add, tag and remove one."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

from starlette.responses import Response

from evercrawl.collection import folder as collection_folder
from evercrawl.collection.folder import CollectionSummary, collections_in, new_collection_path, parse_tags
from evercrawl.collection.search import SourceQuery, query_sources, search
from evercrawl.config import collection_file, create_collection, read_settings, write_setting
from evercrawl.model.search import Hit
from evercrawl.model.table import TableColumn
from evercrawl.web.app_state import AppState
from evercrawl.web.auth import AccessScope
from evercrawl.web.endpoints import location_with_message
from evercrawl.web.format import link_to
from evercrawl.web.open_collections import FolderState, base_of
from evercrawl.web.pages import add_site
from evercrawl.web.route import Action, ActionResult, BadRequest, Inputs, Parameter, View, limit, resource_path
from evercrawl.web.table_page import as_table, listed_table, table_data
from evercrawl.web.views import ACTIONS, PROTOCOLS, RESOURCES, VIEWS

MAX_SEARCHED = 100  # Collections that one query searches; tags narrow them.
SEARCHED_AT_ONCE = 4
COLUMNS = (
    TableColumn("name", "Collection", "collection"),
    TableColumn("health", "Health", "choice"),
    TableColumn("running", "Now", "choice"),
    TableColumn("sites", "Sites", "number"),
    TableColumn("pages", "Pages", "number"),
    TableColumn("last_change", "Last change", "time"),
    TableColumn("next_visit", "Next visit", "time"),
    TableColumn("tags", "Tags", "tags"),
    TableColumn("detail", "Note"),
    TableColumn("queued", "Queued", "number", is_shown=False),
    TableColumn("versions", "Versions", "number", is_shown=False),
    TableColumn("last_run", "Last run", "time", is_shown=False),
    TableColumn("keep_watching", "Watched", "choice", is_shown=False),
)
_NAME = Parameter("name", "Name of the collection.", required=True)
_TAGS = Parameter("tags", "Tags, separated by commas.", default="")


def _folder(state: AppState) -> FolderState:
    assert isinstance(state, FolderState)
    return state


def collections(state: AppState, inputs: Inputs) -> dict[str, Any]:
    """List the collections."""
    listing = _folder(state).survey.listing()
    table = listed_table(state, inputs, [_row(one) for one in listing.known], COLUMNS, "/collections")
    return {
        **table_data(table, "collections"),
        "uncounted": listing.uncounted,
        "left_off": listing.left_off,
        "tags": sorted({tag for one in listing.known for tag in one.tags}),
        "running": sum(one.running is not None for one in listing.known),
        "attention": [(one.name, one.detail) for one in listing.known if one.health in ("attention", "unreadable")],
        "total": len(listing.known) + len(listing.uncounted) + listing.left_off,
    }


def _row(one: CollectionSummary) -> dict[str, Any]:
    return {column.name: getattr(one, column.name) for column in COLUMNS} | {
        "tags": ", ".join(one.tags),
        "keep_watching": "yes" if one.keep_watching else "no",
    }


def collection(state: AppState, inputs: Inputs) -> dict[str, Any]:
    """Show one collection, its tags and its removal."""
    path, name = _path(state, inputs["name"]), inputs["name"]
    listing = _folder(state).survey.listing()
    found = next((one for one in listing.known if one.name == name), CollectionSummary(name))
    tags = read_settings(path).settings.web.tags if found.health != "unreadable" else ()
    base = base_of(name)
    return {"collection": found, "tags": tags, "url": f"{base}/", "api": f"{base}/api/v1"}


def _path(state: AppState, name: str) -> Path:
    found = collections_in(state.path).get(name)
    if found is None:
        raise BadRequest(f"there is no collection {name}", 404)
    return found


def search_all(state: AppState, inputs: Inputs) -> dict[str, Any]:
    """Search the text of all collections."""
    query, tag = (inputs["q"] or "").strip(), inputs["tag"]
    listing = _folder(state).survey.listing()
    wanted = [one.name for one in listing.known if not tag or tag in one.tags]
    names = [*wanted, *(listing.uncounted if not tag else ())]
    data = {"q": query, "tag": tag, "tags": sorted({tag for one in listing.known for tag in one.tags})}
    data |= {"searched": len(names[:MAX_SEARCHED]), "left_out": len(names[MAX_SEARCHED:])}
    if not query:
        return {**data, "hits": None}
    paths, room = collections_in(state.path), threading.Semaphore(SEARCHED_AT_ONCE)
    sources = [
        (quote(name), _source(paths[name], query, inputs["limit"], room))
        for name in names[:MAX_SEARCHED]
        if name in paths
    ]
    timeout_s = state.settings.search.source_timeout.total_seconds()
    found = query_sources(sources, limit=inputs["limit"], timeout_s=timeout_s)
    hits = [
        {"collections": [unquote(name) for name in (hit.source or "").split(", ")], "hit": replace(hit, source=None)}
        for hit in found.hits
    ]
    errors = [{"collection": unquote(one.source), "error": one.problem} for one in found.source_errors]
    return {**data, "hits": hits, "took_ms": round(found.took_ms), "errors": errors}


def _source(path: Path, query: str, most: int, room: threading.Semaphore) -> SourceQuery:
    def run() -> tuple[Hit, ...]:
        with room:
            return search(path, read_settings(path).settings.search, query, limit=most).hits

    return run


def find_anywhere(state: AppState, text: str) -> str:
    """Return where the box of the home page leads."""
    return link_to("/search", q=text.strip())


def add_sites(state: AppState, inputs: Inputs) -> ActionResult:
    """Create a collection for URLs, and crawl them."""
    look = state.looks.get(inputs["look"])
    urls = look.urls if look is not None else add_site.read_urls(inputs["urls"] or "")
    tags = parse_tags(inputs["tags"])
    path = new_collection_path(state.path, urls[0], inputs["name"])
    values = {name: value for name, value in inputs.values.items() if name not in ("name", "tags")}
    folder = _folder(state)
    with _remove_on_error(path):
        create_collection(path, {"web.tags": tags} if tags else None)
        name = next(name for name, known in collections_in(state.path).items() if known == path)
        with folder.collections.use(name) as found:
            assert found is not None
            if look is not None:
                found.state.looks[inputs["look"]] = look
            result = add_site.add_sites(found.state, Inputs(values, inputs.user, inputs.host))
            location = base_of(name) + location_with_message(found.state, result)
    state.looks.pop(inputs["look"], None)
    data = {"message": result.message, "name": name, "url": f"{base_of(name)}/", **(result.data or {})}
    return ActionResult("", location, data, resource_path("/collections/{name}", name=name))


@contextmanager
def _remove_on_error(path: Path) -> Iterator[None]:
    try:
        yield
    except BaseException:
        shutil.rmtree(path, ignore_errors=True)
        raise


def update_collection(state: AppState, inputs: Inputs) -> ActionResult:
    """Set the tags of a collection."""
    path, name, tags = _path(state, inputs["name"]), inputs["name"], parse_tags(inputs["tags"])
    write_setting(collection_file(path), "web.tags", tags)
    _folder(state).survey.forget(name)
    message = f"Tags of {name}: {', '.join(tags)}." if tags else f"{name} has no tags any more."
    return ActionResult(message, "/collections", {"name": name, "tags": tags})


def remove_collection(state: AppState, inputs: Inputs) -> ActionResult:
    """Delete a collection with all its pages."""
    path, name, folder = _path(state, inputs["name"]), inputs["name"], _folder(state)
    if inputs["confirm"] != name:
        raise BadRequest("to remove the collection, enter its name as the confirmation")
    with folder.collections.use(name) as found:
        if found is not None:
            found.state.crawl.close()
    folder.collections.close(name)
    collection_folder.remove_collection(path)
    folder.crawls.forget(path)
    folder.survey.forget(name)
    return ActionResult(f"{name} removed.", "/collections", {"name": name})


def metrics(state: AppState, inputs: Inputs) -> Response:
    """Return the counts of all collections for Prometheus."""
    listing = _folder(state).survey.listing()
    kinds = {
        "pages": "Known pages.",
        "sites": "Known sites.",
        "versions": "Stored versions.",
        "queued": "Queued pages.",
    }
    lines = ["# HELP evercrawl_collections Collections in the folder.", "# TYPE evercrawl_collections gauge"]
    lines.append(f"evercrawl_collections {len(listing.known) + len(listing.uncounted) + listing.left_off}")
    for field, text in kinds.items():
        lines += [f"# HELP evercrawl_collection_{field} {text}", f"# TYPE evercrawl_collection_{field} gauge"]
        lines += [f"evercrawl_collection_{field}{_label(one)} {getattr(one, field)}" for one in listing.known]
    up = [f"evercrawl_collection_up{_label(one)} {int(one.running is not None)}" for one in listing.known]
    lines += ["# HELP evercrawl_collection_up 1 while a crawl runs.", "# TYPE evercrawl_collection_up gauge", *up]
    return Response("\n".join(lines) + "\n", media_type="text/plain; version=0.0.4; charset=utf-8")


def _label(one: CollectionSummary) -> str:
    name = one.name.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'{{collection="{name}"}}'


def ready(state: AppState, inputs: Inputs) -> Response:
    """Return that the folder can be read; raise StoreUnavailable if it cannot."""
    collections_in(state.path)
    return Response("ok\n", media_type="text/plain")


_BY_NAME = {action.name: action for action in ACTIONS}
FOLDER_VIEWS: tuple[View, ...] = (
    View("/collections", "/collections", collections, title="Collections", **as_table("collections", COLUMNS)),
    View(
        "/search",
        "/search",
        search_all,
        (
            Parameter("q", "Words, phrases, site:, lang:, changed:, as in `evercrawl search`.", longest=2000),
            Parameter("tag", "Only collections with this tag."),
            limit(20, 100),
        ),
        title="Search",
    ),
    View("/add", "/previews", add_site.add, (add_site.LOOK, add_site.URLS), title="Add"),
    View("/collection", "/collections/{name}", collection, (_NAME,)),
    *(view for view in VIEWS if view.name == "access"),
)
FOLDER_RESOURCES = tuple(view for view in RESOURCES if view.name in ("tokens", "audit-log"))
FOLDER_ACTIONS: tuple[Action, ...] = (
    _BY_NAME["look-at-sites"],
    Action(
        "POST /collections",
        add_sites,
        (
            *add_site.ADD_PARAMETERS,
            Parameter("name", "Name of the collection. Default: the host of the first URL.", default=""),
            _TAGS,
        ),
        status=202,
    ),
    Action("PATCH /collections/{name}", update_collection, (_NAME, _TAGS)),
    Action(
        "DELETE /collections/{name}",
        remove_collection,
        (_NAME, Parameter("confirm", "The name again.", required=True)),
        scope=AccessScope.ADMIN,
        status=204,
    ),
    *(_BY_NAME[name] for name in ("add-token", "revoke-token", "set-password")),
)
FOLDER_PROTOCOLS = tuple(one for one in PROTOCOLS if one.name in ("metrics", "healthz", "readyz"))
FOLDER_HANDLERS = {"metrics": metrics, "readyz": ready}
