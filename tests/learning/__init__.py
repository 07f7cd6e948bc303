"""Constants learned from the public series (`calibrate`), and whether their inputs changed (`learned`)."""
