"""Decide when a page is worth another visit. Pure functions; all times are days."""
