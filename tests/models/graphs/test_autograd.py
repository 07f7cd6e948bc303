"""The DAG of a backward pass, against the order in which PyTorch really runs it."""

import pytest
import torch

from scalelab.models.graphs import autograd, schedule, workdepth
from scalelab.refusal import Refusal
from tests.models.schedule_faults import faults


def loss_of_a_model():
    """Two layers and a detour, so that gradients meet and add up."""
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 4))
    x = torch.randn(3, 4)
    return (model(x) + x).pow(2).mean() + 0.1 * sum(p.abs().sum() for p in model.parameters())


def operations(loss):
    """Every node of the graph, in the order of the DAG, found through its weight function."""
    nodes = []

    def remember(operation):
        nodes.append(operation)
        return 1

    return autograd.dag(loss, remember), nodes


def test_pytorch_runs_the_operations_in_an_order_that_the_dag_allows():
    loss = loss_of_a_model()
    dag, nodes = operations(loss)
    ran = []
    for i, operation in enumerate(nodes):
        operation.register_prehook(lambda _, i=i: ran.append(i))
    loss.backward()
    leaves = [i for i in dag if dag.nodes[i]["label"] == "AccumulateGrad"]
    assert sorted(ran) == sorted(dag)  # every operation runs once
    assert len(leaves) == 4  # two weights and two biases, however often they are used
    assert all(ran.index(u) < ran.index(v) for u, v in dag.edges)


def test_each_operation_is_named_and_weighed_by_the_caller():
    x = torch.ones(5, requires_grad=True)
    dag = autograd.dag((x.exp() * x).sum(), lambda operation: len(operation.next_functions))
    assert [dag.nodes[i]["label"] for i in dag] == ["Sum", "Mul", "Exp", "AccumulateGrad"]
    assert [dag.nodes[i]["weight"] for i in dag] == [1, 2, 1, 0]
    assert sorted(dag.edges) == [(0, 1), (1, 2), (1, 3), (2, 3)]


def test_a_chain_of_layers_has_no_parallelism_and_branches_have_some():
    x = torch.ones(3, requires_grad=True)
    chain = x
    for _ in range(20):
        chain = chain.sin()
    dag = autograd.dag(chain.sum())
    assert workdepth.work(dag) == workdepth.depth(dag) == 22
    wide = autograd.dag(torch.stack([x * i for i in range(20)]).sum())
    assert workdepth.work(wide) / workdepth.depth(wide) == 23 / 4
    assert faults(wide, schedule.greedy(wide, 4)) == ()


def test_a_very_deep_graph_is_walked_without_recursion():
    x = torch.ones(1, requires_grad=True)
    y = x
    for _ in range(5000):
        y = y + 1
    assert len(autograd.dag(y)) == 5001


class Fake:
    """What the walk needs of PyTorch, and no more."""

    def __init__(self, name, *needs):
        self.name = lambda: name
        self.next_functions = tuple((need, 0) for need in needs)
        self.grad_fn = self


def test_anything_with_the_same_two_attributes_and_one_method_will_do():
    shared = Fake("torch::autograd::AccumulateGrad")
    dag = autograd.dag(Fake("MulBackward0", Fake("BackwardHook", shared), shared, None))
    assert [label for _, label in dag.nodes(data="label")] == [
        *("Mul", "BackwardHook", "AccumulateGrad")
    ]
    assert sorted(dag.edges) == [(0, 1), (0, 2), (1, 2)]


@pytest.mark.parametrize(
    ("arguments", "error", "sentence"),
    [
        ((torch.ones(2),), Refusal, r"output must be a tensor .*, got tensor\(\[1., 1.\]\): "),
        ((Fake("AddBackward0"), 2), Refusal, "weight must be a function .*, got 2: it returns"),
        ((Fake("AddBackward0"), lambda _: -1), ValueError, "weight must be .* 0 on, got -1: it is"),
        ((Fake("AddBackward0"), lambda _: None), ValueError, "weight must be .*, got None: it is"),
    ],
)
def test_what_is_no_graph_and_what_is_no_weight_is_refused(arguments, error, sentence):
    with pytest.raises(error, match=f"^{sentence}"):
        autograd.dag(*arguments)
