"""All that runs under a trial's limit: load, tune, fit, predict."""
