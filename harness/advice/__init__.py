"""What to try on data that nobody has run: sizes that fit, and scores on data of like shape."""
