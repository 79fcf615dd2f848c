"""Rows of trials: their columns, the journal of a block, the table of a study."""
