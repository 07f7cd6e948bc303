"""A plan as plain data for other programs: SI units, None for what is not known or never ends."""

from dataclasses import asdict
from typing import Any

from scalelab.plan import published, step
from scalelab.plan.plan import Plan
from scalelab.stored import finite


def document(plan: Plan) -> dict[str, Any]:
    """Return a plan as nested dicts and lists that JSON can hold.

    >>> from scalelab.plan import plan as planner, file as plan_file
    >>> found = document(planner.plan(plan_file.parse(plan_file.example())))
    >>> found["chosen"], found["rows"][0]["fits"]
    (128, False)
    """
    return finite(
        {
            "name": plan.job.name,
            "stamp": "model",
            "parameters": plan.job.parameters,
            "batch": plan.job.batch,
            "device": plan.job.cluster.device,
            "kernel_share": plan.share,
            "kernel_share_from": plan.share_from,
            "band": {"factor": plan.band, "level": published.LEVEL},
            "goal": asdict(plan.job.goal),
            "rows": [_row(plan, one) for one in plan.rows],
            "impossible": [{"workers": k, "why": why} for k, why in plan.impossible.items()],
            "chosen": plan.chosen,
            "safe": plan.safe,
            "why": plan.why,
            "what_ifs": [
                {"change": one.change, "gain": one.gain, "worth": one.worth, **_row(plan, one.row)}
                for one in plan.whatifs
            ],
            "notes": list(plan.notes),
        }
    )


def _row(plan, one):
    held = {**one.held, "share": one.memory}
    return {
        "workers": one.workers,
        "layout": asdict(one.layout) | {"data": one.workers // one.layout.split},
        "seconds": one.seconds,
        "low": one.seconds / plan.band,
        "high": one.seconds * plan.band,
        "terms": {cause: getattr(one.time, cause) for cause in step.CAUSES},
        "throughput": one.throughput,
        "efficiency": one.efficiency,
        "mfu": one.mfu,
        "bottleneck": one.kind,
        "memory": held,
        "fits": one.fits,
        "run_seconds": one.run,
        "useful_share": one.useful_share,
        "device_hours": one.hours,
        "dollars": one.dollars,
        "joules": one.joules,
        "dollars_per_million_tokens": one.dollars_per_million,
        "joules_per_token": one.joules_per_token,
        "excluded": [reason.text for reason in plan.excluded.get(one.workers, ())],
    }
