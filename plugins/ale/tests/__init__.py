"""Tests of the ALE format."""
