"""What programs and experiments wrote: read and checked once, one model each."""
