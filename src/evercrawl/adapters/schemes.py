"""URL schemes beside http and https: packages offer a fetcher for each by entry point `evercrawl.schemes`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import cache
from importlib.metadata import EntryPoint, entry_points

from evercrawl.engine.ports import Clock, Fetcher
from evercrawl.errors import ConfigError
from evercrawl.model.fetch import Fetched, FetchResult, Request
from evercrawl.model.settings import Settings

GROUP = "evercrawl.schemes"

MakeFetcher = Callable[[Settings, Clock, str], Fetcher]
"""Settings, clock and user agent -> the fetcher of one scheme; its name is that of the entry point."""


@cache
def installed_schemes() -> tuple[str, ...]:
    """The schemes that installed packages bring, without loading any of them; looked up once."""
    return tuple(point.name for point in entry_points(group=GROUP))


def load_schemes(
    settings: Settings, clock: Clock, user_agent: str, *, points: Iterable[EntryPoint] | None = None
) -> dict[str, Fetcher]:
    """Scheme -> its fetcher, for every installed package that brings one."""
    found: dict[str, Fetcher] = {}
    for point in entry_points(group=GROUP) if points is None else points:
        try:
            make: MakeFetcher = point.load()
            found[point.name] = make(settings, clock, user_agent)
        except Exception as error:
            raise ConfigError(
                f"the fetcher for {point.name}: ({point.value}) cannot be loaded: {error}; "
                "repair or remove the package that brings it"
            ) from error
    return found


class FetcherByScheme:
    """Implements `Fetcher`: http and https as always, other schemes by whoever brings them."""

    def __init__(self, web: Fetcher, others: Mapping[str, Fetcher]) -> None:
        self._web = web
        self._others = others

    async def fetch(self, request: Request) -> FetchResult:
        """How the request ended."""
        other = self._others.get(request.url.partition(":")[0])
        if other is None:
            return await self._web.fetch(request)
        return _in_our_types(await other.fetch(request))

    async def close(self) -> None:
        """Let go of every connection."""
        for fetcher in (self._web, *self._others.values()):
            await fetcher.close()


def _in_our_types(result: FetchResult) -> FetchResult:
    """A list of headers or a bytearray of somebody else as the types that are declared, and relied upon."""
    headers = tuple((str(name), str(value)) for name, value in result.headers)
    if isinstance(result, Fetched):
        return replace(result, headers=headers, body=bytes(result.body))
    return replace(result, headers=headers)
