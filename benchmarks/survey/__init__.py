"""What becomes of the numeric loops of code bases: shares, reasons, seconds."""
