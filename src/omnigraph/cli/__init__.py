"""The command line: parse input, call Graph, render."""
