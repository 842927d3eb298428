"""The link graph of a collection on disk: arrays in a folder per generation.
A new generation is written next to the old one and then named in `current`; readers keep theirs open. The graph can be
rebuilt from the collection."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xxhash import xxh3_64_intdigest

from evercrawl.adapters.system import usable_folder
from evercrawl.errors import ConfigError, StoreUnavailable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from evercrawl.core.linkgraph.graph_metrics import Floats, SparseGraph

FORMAT = 1
PARTIAL = "ranks.partial.npz"
HASH_BYTES = 8  # The last bytes of a page's key, which are the hash of its URL.
_ARRAYS = ("pages", "starts", "targets", "ranks", "hubs", "authorities", "depths")


def load_numpy(purpose: str = "the link graph", extra: str = "graph") -> Any:
    """Return numpy, which an extra installs; raise ConfigError if it is missing."""
    try:
        import numpy
    except ImportError:
        raise ConfigError(f"{purpose} needs an extra: pip install 'evercrawl[{extra}]'") from None
    return numpy


def has_graph_support() -> bool:
    """Return whether the extra `graph` is installed; without it, texts alone rank search results."""
    return find_spec("numpy") is not None


def url_hash(url: str) -> int:
    """Return the last bytes of `key_of` as a number."""
    return int(xxh3_64_intdigest(url.encode("utf-8", "replace")))


class LinkGraphFiles:
    """One generation of the graph; its arrays are memory-mapped on first use."""

    def __init__(self, folder: Path, notes: Mapping[str, Any]) -> None:
        self.folder = folder
        self.notes = notes
        self._loaded: dict[str, NDArray[Any]] = {}

    def array(self, name: str) -> NDArray[Any]:
        """Return an array by name."""
        if name not in self._loaded:
            try:
                self._loaded[name] = load_numpy().load(self.folder / f"{name}.npy", mmap_mode="r")
            except (OSError, ValueError) as error:
                raise StoreUnavailable(
                    f"the link graph in {self.folder} cannot be read: {error}; rebuild it with: evercrawl graph rebuild"
                ) from error
        return self._loaded[name]

    @property
    def pages(self) -> NDArray[np.uint64]:
        """Return the page number of each node, ascending."""
        return self.array("pages")

    @property
    def graph(self) -> SparseGraph:
        """Return the links."""
        from evercrawl.core.linkgraph.graph_metrics import SparseGraph

        return SparseGraph(self.array("starts"), self.array("targets"))

    @property
    def ranks(self) -> Floats:
        """Return the PageRank of each node."""
        return self.array("ranks")

    def node_of(self, page: int) -> int | None:
        """Return the node of a page, or None if it is not in this generation."""
        np = load_numpy()
        index = int(np.searchsorted(self.pages, np.uint64(page)))
        return index if index < len(self.pages) and int(self.pages[index]) == page else None

    def importance(self, pages: list[int]) -> list[float]:
        """Return each page's PageRank relative to the average; 0 for unknown pages."""
        count = len(self.pages)
        if not count or not pages:
            return [0.0] * len(pages)
        np = load_numpy()
        wanted = np.array(pages, dtype=np.uint64)
        indexes = np.minimum(np.searchsorted(self.pages, wanted), count - 1)
        known = self.pages[indexes] == wanted
        values: list[float] = np.where(known, self.ranks[indexes] * count, 0.0).tolist()
        return values

    @property
    def anchors_folder(self) -> Path:
        """Return the folder of the anchor text index."""
        return self.folder / "anchors"


def graph_folder(collection: Path) -> Path:
    """Return the folder of the graph's generations."""
    return usable_folder(collection, "graph")


def current_graph(collection: Path) -> LinkGraphFiles | None:
    """Return the current generation, or None if there is none of this format or it cannot be read here."""
    if not has_graph_support():
        return None
    folder = graph_folder(collection)
    try:
        name = (folder / "current").read_text("utf-8").strip()
        if not name.removeprefix("g").isdecimal():  # not written by us
            return None
        notes = json.loads((folder / name / "notes.json").read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    is_ours = isinstance(notes, dict) and notes.get("format") == FORMAT
    return LinkGraphFiles(folder / name, notes) if is_ours else None


def create_generation(collection: Path) -> Path:
    """Create an empty folder for the next generation; delete leftovers of a crash."""
    folder = graph_folder(collection)
    current = current_graph(collection)
    number = int(current.folder.name.removeprefix("g")) + 1 if current is not None else 1
    created = folder / f"g{number}"
    shutil.rmtree(created, ignore_errors=True)
    created.mkdir(parents=True)
    return created


def publish_graph(folder: Path, arrays: Mapping[str, NDArray[Any]], notes: Mapping[str, Any]) -> None:
    """Write the arrays, make this generation current and delete older ones."""
    for name in _ARRAYS:
        load_numpy().save(folder / f"{name}.npy", arrays[name])
    (folder / "notes.json").write_text(json.dumps({"format": FORMAT, **notes}), "utf-8")
    pointer = folder.parent / "current.new"
    pointer.write_text(folder.name, "utf-8")
    os.replace(pointer, folder.parent / "current")
    for other in folder.parent.glob("g*"):
        if other != folder:
            shutil.rmtree(other, ignore_errors=True)


def save_partial_ranks(collection: Path, digest: int, ranks: Floats) -> None:
    """Save the ranks of a computation, so that it can be resumed."""
    path = graph_folder(collection) / PARTIAL
    temporary = path.with_name("ranks.new.npz")
    np = load_numpy()
    np.savez(temporary, digest=np.uint64(digest), ranks=ranks)
    os.replace(temporary, path)


def load_partial_ranks(collection: Path, digest: int) -> Floats | None:
    """Return the saved ranks of a computation over the same links, or None."""
    try:
        with load_numpy().load(graph_folder(collection) / PARTIAL) as stored:
            return stored["ranks"] if int(stored["digest"]) == digest else None
    except (OSError, ValueError, KeyError):
        return None


def delete_partial_ranks(collection: Path) -> None:
    """Delete the saved ranks of a finished computation."""
    (graph_folder(collection) / PARTIAL).unlink(missing_ok=True)
