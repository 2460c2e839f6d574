"""The query language: text in, type-checked queries out. No I/O."""
