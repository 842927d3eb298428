"""Asking the texts of a collection: queries, words, snippets and ranking, without any index."""
