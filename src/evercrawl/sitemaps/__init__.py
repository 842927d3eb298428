"""For site owners: generate, serve and check sitemaps, and announce changed pages."""
