"""A comparison as text, Markdown, CSV, JSON and a page."""
