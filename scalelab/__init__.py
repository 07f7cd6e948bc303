"""Model, measure, fit, predict and judge the scaling of distributed AI.

Importing the package imports nothing else: take the modules you need,
`from scalelab.models.scaling import speedup`.
"""

__version__ = "0.1.0"
