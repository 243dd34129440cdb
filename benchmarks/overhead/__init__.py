"""What polybuild costs a build: the compiler's wrapper against the compiler alone."""
