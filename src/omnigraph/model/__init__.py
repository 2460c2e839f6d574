"""Values shared by every layer: ids, clocks, the error tree."""
