"""Formats that ship with the hub itself."""
