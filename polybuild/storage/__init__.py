"""Less memory under the order already chosen: arrays contracted to what is live at once."""
