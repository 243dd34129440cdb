"""How good the model's choices are: candidates for each kernel, predicted and timed."""
