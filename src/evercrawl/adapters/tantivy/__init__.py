"""The search index on tantivy: a document for each version, and one for how far it follows each shard."""

from evercrawl.adapters.tantivy.index import IndexBusy, TextIndex
from evercrawl.adapters.tantivy.writing import IndexedVersion

__all__ = ["IndexBusy", "IndexedVersion", "TextIndex"]
