"""What search needs beyond a scan: words of a text, scores, and indexes as derived state."""
