"""Each module implements one port and hides one library. Foreign exceptions end here."""
