"""Looking through a collection in portions, also a large one, also while another process crawls it."""
