"""The link graph of a collection: built from what was crawled, asked, checked, taken out and drawn."""
