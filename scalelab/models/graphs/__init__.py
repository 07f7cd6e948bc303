"""Work, depth and parallelism: a computation as a graph (3.6).

Read `workdepth` first, then `schedule`, which places the graph on workers, and `timeline`, which the
figures draw. `dags` holds sums, scans and products; `rank_dags` a step on several ranks; `pipeline`
micro-batches on stages; `autograd` the graph of a torch model. `dag` is the compact form that all of them
share.
"""

from scalelab.face import face

__getattr__, __dir__ = face(
    __name__,
    "workdepth schedule timeline dags rank_dags pipeline autograd dag",
)
