"""What one visit means: its outcome, the links it found, and links on their way to other shards."""
