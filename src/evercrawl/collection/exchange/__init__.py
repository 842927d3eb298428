"""Export and import of a collection's content."""
