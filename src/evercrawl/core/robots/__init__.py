"""Read and apply robots.txt (RFC 9309)."""
