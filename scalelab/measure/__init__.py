"""The clock: what this machine is, how long things take on it, and how sure that is.

`host` says what the machine is, `timing` how long a function takes, `ranks` what many processes do at
once, `messages` what they send; `probe` finds the roofs, `trace` where a step's time goes, `energy` the
joules; `serving` and `capstone` are the two experiments. Never imports `scalelab.models`: what is
measured must not depend on what is predicted.
"""
