"""Storylines and their wire JSON: cattrs converters, a fast one and a detailed one."""
