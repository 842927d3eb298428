"""Load plugins: URL filters by `module:object`, and fetchers and document handlers by entry point."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from evercrawl.core.scope.url_filter import UrlFilter
from evercrawl.engine.ports import Clock, DocumentHandler, Fetcher
from evercrawl.errors import ConfigError
from evercrawl.model.fetch import Fetched, FetchResult, Request
from evercrawl.model.settings import Settings

SCHEME_GROUP = "evercrawl.schemes"
MakeFetcher = Callable[[Settings, Clock, str], Fetcher]
"""Create the fetcher of a scheme from settings, clock and user agent. The entry point's name is the scheme."""
log = logging.getLogger("evercrawl")
HANDLER_GROUP = "evercrawl.handlers"


def load_filter(name: str) -> UrlFilter:
    """Load a URL filter named `module:object`; classes are instantiated without arguments."""
    found = load_object(name, "filter", "my_filters:OnlyNews")
    path = name.partition(":")[2]
    if not callable(getattr(found, "accepts", None)):
        raise ConfigError(f"filter {name!r}: {path} has no method accepts(url)")
    return found  # type: ignore[no-any-return]


def load_object(name: str, kind: str, example: str) -> Any:
    """Load the object named `module:object`; classes are instantiated without arguments."""
    module_name, colon, path = name.partition(":")
    if not (colon and module_name and path):
        raise ConfigError(f"{kind} {name!r}: write it as module:object, such as {example}")
    label = f"{kind} {name!r}"
    found = _get_attribute(_import_module(module_name, label), path, label)
    return _instantiate(found, label) if isinstance(found, type) else found


def _import_module(module_name: str, label: str) -> Any:
    try:
        return import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name is not None and (module_name + ".").startswith(error.name + "."):
            remedy = "check that it is installed or in PYTHONPATH"
            raise ConfigError(f"{label}: there is no module {error.name!r}; {remedy}") from error
        raise ConfigError(f"{label}: {module_name} needs a missing module: {error}") from error
    except Exception as error:
        raise ConfigError(f"{label}: importing {module_name} failed: {_error_text(error)}") from error


def _get_attribute(module: Any, path: str, label: str) -> Any:
    found = module
    for part in path.split("."):
        try:
            found = getattr(found, part)
        except AttributeError as error:
            raise ConfigError(f"{label}: {module.__name__} has no object {path!r}") from error
    return found


def _instantiate(kind: type, label: str) -> Any:
    try:
        return kind()
    except Exception as error:
        raise ConfigError(f"{label}: {kind.__name__}() failed: {_error_text(error)}") from error


def _error_text(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


@cache
def installed_schemes() -> tuple[str, ...]:
    """Return the URL schemes of installed packages, without loading them."""
    return tuple(point.name for point in entry_points(group=SCHEME_GROUP))


def load_schemes(
    settings: Settings, clock: Clock, user_agent: str, *, points: Iterable[EntryPoint] | None = None
) -> dict[str, Fetcher]:
    """Return the fetcher of each scheme that an installed package provides."""
    found: dict[str, Fetcher] = {}
    for point in entry_points(group=SCHEME_GROUP) if points is None else points:
        try:
            make: MakeFetcher = point.load()
            found[point.name] = make(settings, clock, user_agent)
        except Exception as error:
            raise ConfigError(
                f"the fetcher for {point.name}: ({point.value}) cannot be loaded: {error}; "
                "repair or remove the package that provides it"
            ) from error
    return found


class FetcherByScheme:
    """Implements `Fetcher`: http and https by `web`, other schemes by their plugins."""

    def __init__(self, web: Fetcher, others: Mapping[str, Fetcher]) -> None:
        self._web = web
        self._others = others

    async def fetch(self, request: Request) -> FetchResult:
        """Fetch with the fetcher of the URL's scheme."""
        other = self._others.get(request.url.partition(":")[0])
        if other is None:
            return await self._web.fetch(request)
        return _convert_types(await other.fetch(request))

    async def close(self) -> None:
        """Close all fetchers."""
        for fetcher in (self._web, *self._others.values()):
            await fetcher.close()


def _convert_types(result: FetchResult) -> FetchResult:
    """Convert a plugin's headers and body to the declared types."""
    headers = tuple((str(name), str(value)) for name, value in result.headers)
    if isinstance(result, Fetched):
        return replace(result, headers=headers, body=bytes(result.body))
    return replace(result, headers=headers)


def load_handlers(points: Iterable[EntryPoint] | None = None) -> tuple[dict[str, DocumentHandler], list[str]]:
    """Return the handler of each media type (the first one wins), and a message for each unusable handler."""
    handlers: dict[str, DocumentHandler] = {}
    warnings: list[str] = []
    for point in sorted(entry_points(group=HANDLER_GROUP) if points is None else points, key=lambda point: point.name):
        try:
            found: Any = point.load()
            media_types = tuple(str(kind).lower() for kind in found.media_types)
            if not callable(found.parse):
                raise TypeError("`parse` is not callable")
        except Exception as error:
            # Third-party code, or a missing extra: continue without it.
            warnings.append(f"handler {point.name} ({point.value}) is not used: {type(error).__name__}: {error}")
            continue
        for kind in media_types:
            handlers.setdefault(kind, found)
    return handlers, warnings


class InstalledHandlers:
    """The document handlers of installed packages, loaded on first use."""

    def __init__(self) -> None:
        self._found: dict[str, DocumentHandler] | None = None

    def get(self, media_type: str) -> DocumentHandler | None:
        """Return the handler of a media type, or None. Handlers that fail to load are logged."""
        if self._found is None:
            self._found, warnings = load_handlers()
            for warning in warnings:
                log.warning("%s", warning)
        return self._found.get(media_type)
