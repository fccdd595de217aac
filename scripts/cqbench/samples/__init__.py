"""Groups of results: settings, repetitions, series."""
