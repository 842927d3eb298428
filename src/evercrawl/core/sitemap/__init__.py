"""Read, follow and write sitemaps and feeds."""
