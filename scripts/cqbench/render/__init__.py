"""The output of commands: lines and tables as data, and one renderer for each format."""
