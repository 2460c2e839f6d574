"""Queries on Spark: the same plan as embedded, as frames and Spark SQL, with the same rows."""
