"""What a study will do, before it does it: its trials, their sizes, and what decides each row."""
