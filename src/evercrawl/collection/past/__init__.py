"""Looking back: the versions of a page, what differs between them, what changed since, and what is kept."""
