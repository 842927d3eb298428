"""For those who run a site: sitemaps that tell the truth, made, served, judged and announced."""
