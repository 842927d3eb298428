"""Detect crawler traps from URLs, from what a site's pages yield, and from the user's rules."""
