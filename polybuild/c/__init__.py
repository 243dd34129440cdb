"""What C means: tokens, types, typing, constants, declarations, helpers for syntax trees."""
