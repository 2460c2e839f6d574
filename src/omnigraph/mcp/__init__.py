"""A graph as tools for agents: the Model Context Protocol, over standard streams or HTTP."""
