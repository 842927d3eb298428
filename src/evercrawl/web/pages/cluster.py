"""The workers of a collection in a database, and how they are sent home."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

from evercrawl.adapters.postgres.marker import marked
from evercrawl.web.desk import Desk
from evercrawl.web.parameter import BadRequest
from evercrawl.web.route import Asked, Done


def cluster(desk: Desk, asked: Asked) -> dict[str, Any]:
    """Who works on the collection; in a folder there is no cluster."""
    if not _is_in_database(desk):
        return {"in_database": False, "workers": [], "shards": desk.settings.store.shards, "owned": 0}
    from evercrawl.cluster.database_worker import list_workers

    found = list_workers(desk.path, desk.settings.store.url)
    return {
        "in_database": True,
        "shards": desk.settings.store.shards,
        "owned": sum(member.shards for member in found),
        "workers": [member._asdict() | {"id": str(member.id)} for member in found],
    }


def drain_worker(desk: Desk, asked: Asked) -> Done:
    """Ask a worker, or all, to finish, save and end."""
    if not _is_in_database(desk):
        raise BadRequest("this collection lies in a folder: there is no cluster", 409)
    from evercrawl.cluster.database_worker import drain_workers

    count = drain_workers(desk.path, asked["worker"], desk.settings.store.url)
    if not count:
        raise BadRequest("no worker's id begins so", 404)
    words = "1 worker was asked" if count == 1 else f"{count:,} workers were asked"
    return Done(f"{words}; each ends with its next heartbeat", "/cluster", {"asked": count})


def _is_in_database(desk: Desk) -> bool:
    """The state lies in a database, and the library for it is there."""
    is_named = desk.settings.store.url is not None or marked(desk.path) is not None
    return is_named and find_spec("asyncpg") is not None
