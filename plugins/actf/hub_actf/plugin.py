"""The hook implementations of the ACTF format."""
