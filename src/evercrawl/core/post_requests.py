"""Which POST requests of a page's scripts are sent: those that read data, such as GraphQL queries and searches.
A request that may change something, that comes from a form, or that goes to a site with credentials is refused.
Their answers are stored under a URL that has the method and the body as a query, as in other web archives
(https://specs.webrecorder.net/request-body-canonicalization/)."""

from __future__ import annotations

import re
from base64 import b64encode
from collections import Counter
from collections.abc import Collection
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode

import orjson

from evercrawl.core.url import registrable_domain, site_of, site_parts

MAX_POST_BYTES = 64 * 1024  # A larger body is an upload.
MAX_QUERY_CHARS = 4096  # Of a body as a query; the rest is cut, as in other archives.
POSTED = "__wb_method=POST&"
SCRIPT_KINDS = frozenset(("xhr", "fetch"))
_TYPES = ("application/json", "application/graphql", "application/x-www-form-urlencoded", "text/plain")
_FORM_TYPE, _JSON_TYPES = "application/x-www-form-urlencoded", ("application/json", "text/plain")
_COMMENT = re.compile(r"#[^\n]*")
_WRITES = re.compile(r"(?:^|\})\s*(?:mutation|subscription)\b")


class PostRequest(NamedTuple):
    """A POST request that a script wants to send."""

    url: str
    kind: str  # As DevTools says it, in lower case.
    content_type: str
    body: bytes


def post_refusal(
    post: PostRequest,
    page_url: str,
    *,
    signed_in: Collection[str] = (),
    posted: Collection[str] = (),
    is_pressed: bool = False,
) -> str:
    """Return why a POST is not sent; empty: it is. `posted`: URLs that the page posted to by itself;
    `is_pressed`: we have pressed a button since, so that other URLs may do what the button says."""
    site = site_of(post.url)
    if post.kind not in SCRIPT_KINDS:
        return "POST is not sent: it is no request for data"
    if site in signed_in or site_of(page_url) in signed_in:
        return "POST is not sent while signed in: it may change something"
    if len(post.body) > MAX_POST_BYTES or not post.content_type.lower().startswith(_TYPES):
        return "POST is not sent: it uploads something"
    queries = _graphql(post)
    if queries is not None:
        is_write = any(_WRITES.search(_COMMENT.sub("", query)) for query in queries)
        return "POST is not sent: a GraphQL operation that may change something" if is_write else ""
    if registrable_domain(site_parts(site).host) != registrable_domain(site_parts(site_of(page_url)).host):
        return "POST is not sent to other sites: it may change something"
    if is_pressed and post.url not in posted:
        return "POST is not sent after a button was pressed: it may change something"
    return ""


def _graphql(post: PostRequest) -> list[str] | None:
    """Return the GraphQL documents of a request; None: it is something else."""
    if post.content_type.lower().startswith("application/graphql"):
        return [post.body.decode("utf-8", "replace")]
    try:
        data = orjson.loads(post.body)
    except orjson.JSONDecodeError:
        return None
    operations = data if isinstance(data, list) else [data]
    queries = [one["query"] for one in operations if isinstance(one, dict) and isinstance(one.get("query"), str)]
    is_graphql = queries and len(queries) == len(operations) and all("{" in query for query in queries)
    return queries if is_graphql else None


def posted_url(url: str, content_type: str, body: bytes) -> str:
    """Return the URL under which the answer to a POST request is stored."""
    query = _body_query(content_type.partition(";")[0].strip().lower(), body)
    return f"{url}{'&' if '?' in url else '?'}{POSTED}{query[:MAX_QUERY_CHARS]}"


def posted_query(stored_url: str, url: str) -> str | None:
    """Return the body as a query, if `stored_url` is that of a POST request to `url`; None: it is not."""
    start = url + ("&" if "?" in url else "?") + POSTED
    return stored_url.removeprefix(start) if stored_url.startswith(start) else None


def _body_query(kind: str, body: bytes) -> str:
    if kind == _FORM_TYPE:
        return quote(body, safe="%&=+;,/?:@$!~*'()[]{}")
    if kind in _JSON_TYPES:
        try:
            return urlencode(_json_fields(orjson.loads(body)))
        except orjson.JSONDecodeError:
            if kind == "application/json":
                return ""
    return f"__wb_post_data={b64encode(body).decode()}"


def _json_fields(data: Any) -> dict[str, str]:
    """Return all values by their innermost names; those of the same name are numbered."""
    fields: dict[str, str] = {}
    repeated: Counter[str] = Counter()
    left = [("", data)]
    while left:
        name, value = left.pop()
        if isinstance(value, dict):
            left += reversed(value.items())
        elif isinstance(value, list):
            left += [(name, one) for one in reversed(value)]
        elif value != "":
            repeated[name] += 1
            field = name if repeated[name] == 1 else f"{name}.{repeated[name]}_"
            whole = isinstance(value, float) and value.is_integer()  # As JavaScript writes it.
            fields[field] = value if isinstance(value, str) else orjson.dumps(int(value) if whole else value).decode()
    return fields
