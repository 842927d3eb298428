"""Credit that flows along links and decides which pages deserve requests (early detection of traps)."""
