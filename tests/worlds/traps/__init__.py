"""Sites with crawler traps, honest sites that resemble them, and ways to crawl both."""
