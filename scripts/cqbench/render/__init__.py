"""What commands show: lines and tables as data, and one renderer for each format."""
