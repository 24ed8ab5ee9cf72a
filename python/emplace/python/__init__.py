"""Where programs that reach below the public names look for them."""
