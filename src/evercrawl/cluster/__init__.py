"""One crawl on any number of machines: each worker owns shards for as long as its lease holds."""
