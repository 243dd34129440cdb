"""What threads cost where other work takes the processors away."""
