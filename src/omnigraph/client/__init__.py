"""The same graph over HTTP, and what both ends say to each other."""
