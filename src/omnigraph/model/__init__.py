"""Values shared by every layer: types, names, clocks, findings, the error tree."""
