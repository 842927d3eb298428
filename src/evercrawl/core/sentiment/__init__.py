"""Is what a page says friendly or not? Sentences, pages and sites; English only."""
