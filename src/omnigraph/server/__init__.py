"""Graphs over HTTP: one process that many people and agents share."""
