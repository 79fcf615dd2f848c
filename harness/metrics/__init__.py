"""Scores of predictions: what they are called, and how they are computed."""
