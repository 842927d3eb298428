"""Decide which URLs belong to a collection."""
