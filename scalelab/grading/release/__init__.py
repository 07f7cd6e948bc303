"""What students get, and what they must not get.

`release` builds the exercises, `leaks` looks for what must stay, `published` for what a page told;
`keys` are handed out for numbers of one's own.
"""
