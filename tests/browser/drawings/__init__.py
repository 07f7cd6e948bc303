"""Drawings that play, in a real browser."""
