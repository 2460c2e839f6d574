"""Writing: from records, frames and mutations to the rows of a publish."""
