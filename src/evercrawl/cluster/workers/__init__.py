"""One crawl on several processes of one machine: each owns every n-th shard."""
