"""Bulk data on Spark: nothing else imports pyspark, and nothing below knows that there is a Spark."""
