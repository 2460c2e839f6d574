"""The schema language: `.pg` text in, a typed catalog out. No I/O."""
