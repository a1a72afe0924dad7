"""What authors of plugins test with; needs `hypothesis` and `pytest`."""
