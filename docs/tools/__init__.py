"""What makes the documentation out of the code: pages that are written by nobody, and the site."""
