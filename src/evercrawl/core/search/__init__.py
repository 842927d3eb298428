"""Search without an index: queries, tokens, snippets and ranking."""
