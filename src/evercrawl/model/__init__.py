"""Values that the layers pass to each other: immutable, typed, without behaviour beyond validation."""
