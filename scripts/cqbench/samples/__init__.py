"""What belongs together: settings, repetitions, series."""
