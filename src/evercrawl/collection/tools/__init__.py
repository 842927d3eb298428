"""Every decision can be asked from a pipe: one function for each, from a JSON object to a JSON object."""
