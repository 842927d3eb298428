"""Traps: what a URL alone can show, what a part of a site has yielded, and what operators say about it."""
