"""``polybuild reduce``: what a file shows, and the reducer that makes the file smaller while it shows it."""
