"""Crawling towards a topic: a classifier, a distiller of hubs, and priorities that change as it learns."""
