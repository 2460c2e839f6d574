"""The keys of a load, judged in tasks: ids, ends of edges, places and members of `@unique`, a share in each unit."""
