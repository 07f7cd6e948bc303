"""A class of troubled submissions: every kind of trouble once, with what must come of it.

`stage.py` prepares an assignment of the book for them, `kinds` turn an honest notebook of it into one
kind of trouble each, `classes.py` makes and grades a class, `recorded.py` keeps what came of it.
`assignment.py` is a small assignment, for tests that need a tiny course; kinds can be put on it as well.
"""
