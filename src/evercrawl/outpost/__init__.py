"""Outposts: small processes near the sites that ask, compare and send home only what is new."""
