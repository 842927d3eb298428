"""Run a crawl in several processes or on several machines. Each worker owns shards for as long as its lease lasts."""
