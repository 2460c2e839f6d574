"""OmniGraph: a versioned graph database on a disk or in an object store."""

__version__ = "0.1.0"
