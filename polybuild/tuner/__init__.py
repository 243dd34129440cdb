"""``polybuild tune``: builds candidates for regions with the user's own build, and times his own program."""
