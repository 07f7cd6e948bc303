"""The commands of those who run a course, in its root.

`keys` gives students numbers of their own, `release` makes what they get, `leaks` looks for what they
must not get, and `grade` grades what they hand in.
"""
