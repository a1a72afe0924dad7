"""The command line: each command parses, calls the Python API, and prints."""
