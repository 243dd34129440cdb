"""Programs whose regions ranks share, on several numbers of ranks, against one process without polybuild."""
