"""What loops cost on a CPU, predicted from their schedule tree."""
