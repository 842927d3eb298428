"""Duplicates: MinHash signatures and LSH, duplicate pages, mirrored hosts, and the URL-seen test."""
