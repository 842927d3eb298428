"""The link graph: PageRank, hubs and authorities, click depth, and a chart of a site's structure."""
