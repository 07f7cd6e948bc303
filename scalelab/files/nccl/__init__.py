"""What nccl-tests print: `nccl_tests` reads a `run`, whether as a table or as JSON."""
