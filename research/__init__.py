"""Experiments outside the product: reruns of the papers that evercrawl builds on, with their charts and notes."""
