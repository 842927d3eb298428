"""HTTP as bytes and values: requests to send, responses to read."""
