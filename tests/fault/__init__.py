"""Faults: killed processes, stores that misbehave, races."""
