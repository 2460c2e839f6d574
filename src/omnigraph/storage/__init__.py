"""Objects, chains and tables: everything that touches a store."""
