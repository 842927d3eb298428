"""Has a page changed, and does the change mean anything?

`compare` judges two versions of which nothing else is known. In a crawl, `snapshot_of` keeps of each version
what is needed, `meet` learns from a page that is seen for the first time, and `judge_visit` judges each
later visit and learns from it.
"""
