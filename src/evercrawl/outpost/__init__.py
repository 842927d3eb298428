"""Outposts: small agents near the sites that fetch, compare and send only what changed to the coordinator."""
