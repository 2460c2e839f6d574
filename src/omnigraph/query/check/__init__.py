"""Tree and catalog to IR: every name resolved, every rule checked, all findings in one run."""
