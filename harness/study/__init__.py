"""What a study file says: its schema, its budgets, the printed tables beside it."""
