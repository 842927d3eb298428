"""Named values of pages: selectors, types and structured data."""
