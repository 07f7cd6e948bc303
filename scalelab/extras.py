"""Packages that are installed for a purpose, and the sentence for whoever asks for one that is not there.

Standard library only; every layer may import it. `pyproject.toml` lists what each purpose installs.
"""

from scalelab.refusal import Refusal

PURPOSES = {
    "measure": ("torch",),  # to run what is measured: probe, run, capstone
    "plot": ("matplotlib",),
    "book": ("ipywidgets", "IPython", "networkx", "pandas"),
    "grade": (
        *("nbgrader", "nbformat", "nbconvert", "nbclient", "jupyter_client", "traitlets"),
        *("sqlalchemy", "markdown_it"),
    ),
    "xlsx": ("openpyxl",),
    "cluster": ("distributed", "dask"),
    "postgres": ("psycopg",),
}


def missing(error: ModuleNotFoundError) -> Refusal | None:
    """Return what to say of a package that is not installed, or None if it is none of these.

    >>> print(missing(ModuleNotFoundError("No module named 'torch'", name="torch.distributed")))
    torch must be installed for this, got no such package: pip install "scalelab[measure]"
    """
    package = (error.name or "").partition(".")[0]
    for purpose, packages in PURPOSES.items():
        if package in packages:
            return Refusal(
                f"{package} must be installed for this, got no such package: "
                f'pip install "scalelab[{purpose}]"'
            )
    return None
