"""Detection of changes and of what they mean.
`compare` classifies two versions without context. In a crawl, `take_snapshot` keeps what later comparisons need,
`learn_page` learns from a new page, and `classify_visit` classifies each later visit and learns from it."""
