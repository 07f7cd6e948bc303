"""Pure functions from given numbers to predicted ones: no clock, no printing, no plots.

A room for each section: `scaling` (3.1, 3.3, 3.5), `machines` (3.2), `waiting` (3.4), `graphs` (3.6),
`kernels` (3.7), `network` (3.8) and `cost` (3.9). `checking` refuses what makes no sense, `choice`
looks up a name.
"""
