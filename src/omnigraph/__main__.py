"""`python -m omnigraph`."""

from omnigraph.cli.app import main

main()
