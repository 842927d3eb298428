"""The search index on tantivy: one document per version, and one per shard for the indexing progress."""

from evercrawl.adapters.tantivy.text_index import IndexBusy, IndexedVersion, TextIndex

__all__ = ["IndexBusy", "IndexedVersion", "TextIndex"]
