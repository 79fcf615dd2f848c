"""What a plugin provides and how it is found: hooks, methods, search spaces, the index."""
