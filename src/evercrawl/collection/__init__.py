"""Everything you can do with a collection; the layer that `cli` and `web` call."""
