"""Which pages say the same? `banding` finds candidates without a scan, `cluster` says of what a page is a
duplicate and in which words, `mirror` recognises hosts that are copies of each other.
"""
