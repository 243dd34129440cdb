"""The few isl helpers that all rooms share."""
