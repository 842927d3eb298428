"""The search engine of a collection: an index that follows the crawl, questions to it, and to several at once."""
