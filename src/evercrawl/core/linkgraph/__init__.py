"""What the links between pages say: importance, hubs and authorities, depth, and a picture of it."""
