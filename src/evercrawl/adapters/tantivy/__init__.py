"""The search index on tantivy: a document for each version, and one for how far it follows each shard."""

from evercrawl.adapters.tantivy.text_index import IndexBusy, IndexedVersion, TextIndex

__all__ = ["IndexBusy", "IndexedVersion", "TextIndex"]
