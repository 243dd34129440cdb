"""The hardware that code is generated for: every figure with its unit and where it comes from."""
