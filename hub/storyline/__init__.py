"""The model in the middle, and the rules and readings that all formats share."""
