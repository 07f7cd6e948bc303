"""A class of troubled submissions: every kind of trouble once, with what must come of it.

`assignment.py` is a small assignment; the other modules turn an honest notebook of it into one kind
of trouble each. `KINDS` lists them all.
"""
