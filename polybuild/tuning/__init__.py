"""What measuring found to be best for regions: read in every build, written by ``polybuild tune``."""
