"""How fast polybuild's output is on this machine, against the compiler's own and its peers'."""
