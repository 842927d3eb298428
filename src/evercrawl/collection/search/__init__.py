"""The search engine of a collection: an index that follows the crawl, and questions to it."""
