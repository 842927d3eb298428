"""The asynchronous shell around pure decisions: it reads their input, calls them, and writes their results."""
