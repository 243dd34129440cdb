"""What the tool costs as regions and files grow."""
