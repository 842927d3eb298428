"""Pair outposts with a collection, show their statistics, and run one."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from evercrawl.errors import ConfigError
from evercrawl.model.time import from_us, to_us
from evercrawl.outpost.agent_builder import AgentOptions, run_outpost
from evercrawl.outpost.coordinator_state import COORDINATOR_FILE, CoordinatorState
from evercrawl.outpost.pairing import FOLDER, SECRET_BYTES, PairingCode, certificate_pin, coordinator_certificate
from evercrawl.outpost.routing import normalise_route

__all__ = ["AgentOptions", "OutpostStatus", "create_pairing_code", "list_outposts", "run_outpost", "unpair"]


@dataclass(frozen=True, slots=True)
class OutpostStatus:
    """Statistics of one outpost since it was paired."""

    name: str
    routes: tuple[str, ...]
    paired: datetime
    seen: datetime | None
    has_lease: bool
    requests: int  # Requests to its sites.
    bytes_sent: int  # Traffic between coordinator and outpost, both ways.
    bytes_plain: int  # Traffic of a direct crawl for the same requests, uncompressed.
    bytes_plain_gzip: int  # The same if every site used gzip.
    counts: dict[str, int] = field(default_factory=dict)
    """Results by kind: whole, changed (sent as a patch), same, withheld, failed, declined, refused."""

    @property
    def share(self) -> float | None:
        """Return the bytes sent per byte of a direct crawl."""
        return self.bytes_sent / self.bytes_plain if self.bytes_plain else None


def list_outposts(collection: Path) -> list[OutpostStatus]:
    """Return the outposts of a collection, in the order of pairing."""
    if not (collection / FOLDER / COORDINATOR_FILE).exists():
        return []
    state = CoordinatorState(collection)
    try:
        now_us = to_us(datetime.now(UTC))
        found = []
        for row in state.outposts():
            counts = state.counts(row.id)
            found.append(
                OutpostStatus(
                    row.name,
                    row.routes,
                    from_us(row.paired_us),
                    from_us(row.seen_us) if row.seen_us else None,
                    row.until_us > now_us,
                    counts.pop("requests"),
                    counts.pop("bytes_in") + counts.pop("bytes_out"),
                    counts.pop("bytes_plain"),
                    counts.pop("bytes_plain_gzip"),
                    counts,
                )
            )
        return found
    finally:
        state.close()


def create_pairing_code(collection: Path, *, name: str, routes: list[str], valid_for: timedelta) -> str:
    """Create a code that pairs one outpost, once."""
    try:
        normal = [normalise_route(route) for route in routes]
    except ValueError as error:
        raise ConfigError(f"--for {' '.join(routes)}: {error}") from None
    _, certificate = coordinator_certificate(collection)
    code = PairingCode(secrets.token_bytes(SECRET_BYTES), certificate_pin(certificate))
    state = CoordinatorState(collection)
    try:
        now_us = to_us(datetime.now(UTC))
        expires_us = now_us + valid_for // timedelta(microseconds=1)
        state.add_code(code.name, code.key, name=name, routes=normal, now_us=now_us, expires_us=expires_us)
    finally:
        state.close()
    return code.text()


def unpair(collection: Path, name: str) -> None:
    """Remove an outpost; raise ConfigError if there is none of that name."""
    state = CoordinatorState(collection)
    try:
        if not state.unpair(name):
            raise ConfigError(f"no outpost is named {name!r}; see: evercrawl outpost status")
    finally:
        state.close()
