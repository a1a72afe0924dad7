"""The hook implementations of the ALE format."""
