"""What home and outposts decide, as values: codes, seals, messages, routes, leases, comparisons."""
