"""The capstone: the same step on any number of workers, one sealed pass each, a batch that costs."""

import functools
import json

import numpy as np
import pytest

from scalelab import records
from scalelab.measure.capstone import capstone, classifier
from scalelab.measure.capstone.capstone import Settings
from scalelab.measure.ranks import agent, workers
from scalelab.measure.serving import serve
from scalelab.measure.timing import timing
from scalelab.rubric import assess as rubric_assess, rubric
from tests.cli.command import scalelab
from tests.measure import worker_jobs

pytestmark = pytest.mark.turns(3)

SMALL = {"samples": 1024, "epochs": 1, "width": 64}


@pytest.fixture(scope="module")
def studies():
    """Two plans on one and two real workers with two seeds."""
    weak = Settings("weak", weak=True, **SMALL)
    return capstone.study((1, 2), Settings(**SMALL), weak, seeds=2)


# --- The same step ---


def test_four_workers_reproduce_the_gradient_of_one():
    gaps = workers.launch(capstone.gradient_gap, 4, width=64)
    assert max(gaps) < 1e-5
    assert max(gaps) > 0  # four partial sums are not added in the order of one


def test_the_gradient_is_that_of_the_whole_batch_and_not_of_a_share():
    """Against autograd over all samples at once, written apart."""
    import torch

    trained = classifier.Classifier(32, seed=3)
    inputs, labels = classifier.drawn(48, stream=1)
    trained.gradient(inputs, labels, torch.arange(48))
    logits = sum(trained.model(look) for look in inputs.unbind(1)) / classifier.LOOKS
    loss = -torch.log_softmax(logits, 1)[torch.arange(48), labels].mean()
    expected = torch.autograd.grad(loss, trained.model[0].weight)[0]
    assert torch.allclose(trained.model[0].weight.grad, expected, atol=1e-6)


def test_quality_does_not_depend_on_how_many_share_a_step(studies):
    strong = studies[0].passes
    for seed in (0, 1):
        one, two = (p.quality for p in strong if p.seed == seed)
        assert one == pytest.approx(two, abs=3 / classifier.HELD_OUT)


def test_every_look_at_a_sample_has_a_say():
    """The scores are the mean of what each look says for itself."""
    import torch

    trained = classifier.Classifier(16, seed=0)
    inputs, _ = classifier.drawn(5, stream=1)
    alone = [trained.scores(inputs[:, look : look + 1]) for look in range(classifier.LOOKS)]
    assert torch.allclose(trained.scores(inputs), torch.stack(alone).mean(0), atol=1e-6)


def test_a_held_out_set_is_named_in_parts_as_it_would_be_at_once():
    """Also where the last part is short, and for a single sample."""
    import torch

    trained = classifier.Classifier(16, seed=0)
    for count in (1, classifier.PART, 2 * classifier.PART + 3):
        inputs, _ = classifier.drawn(count, stream=0)
        assert torch.equal(trained.names(inputs), trained.scores(inputs).argmax(1))


def test_a_training_leaves_the_samples_that_later_passes_read_as_they_were():
    inputs, labels = classifier.drawn(64, stream=1)
    before = inputs.clone(), labels.clone()
    trained = classifier.Classifier(16, seed=0)
    trained.train(inputs, labels, 16, 0.05, 1, 0)
    trained.accuracy(inputs, labels)
    again = classifier.drawn(64, stream=1)
    assert all((a == b).all() for a, b in zip(before, again, strict=True))


def test_shares_of_a_minibatch_are_disjoint_and_whole():
    trained, chosen = classifier.Classifier(8, 0), np.arange(12)
    trained.count, found = 4, []
    for trained.rank in range(4):
        found += list(trained.own(chosen))
    assert found == list(chosen)


# --- One pass ---


def test_every_pass_is_sealed_and_says_what_ran(studies):
    strong, weak = studies
    assert [(p.workers, p.seed) for p in strong.passes] == [(1, 0), (1, 1), (2, 0), (2, 1)]
    assert all(p.intact and p.seconds > 0 for p in strong.passes)
    assert strong.passes[0].configuration["batch"] == 256
    assert {p.workers: p.varied for p in weak.passes} == {
        k: {"batch": 256 * k, "samples": 1024 * k, "peak": classifier.RATE * k} for k in (1, 2)
    }  # fmt: skip
    assert [p.work for p in weak.passes] == [1024, 1024, 2048, 2048]
    assert strong.passes[2].rate == 2 * strong.passes[0].rate


def test_the_exchange_is_part_of_the_time_and_one_worker_has_none(studies):
    for one in studies[0].passes:
        assert (one.exposed == 0) if one.workers == 1 else (0 < one.exposed < one.seconds)


def test_the_rubric_and_the_assessment_take_it(studies):
    found = rubric_assess.assess(records.to_json(studies[0]))
    assert found.names("error") == []
    assert found.report.scaling == "strong"
    assert rubric.judge(rubric.of_passes(studies[1])).scaling == "weak"


def test_what_plans_train_alike_is_trained_once_and_each_declares_it_as_its_own(studies):
    """One worker trains the same in both, so it is one run; on two, the samples tell them apart."""
    for strong, weak in zip(*(study.passes for study in studies), strict=True):
        assert (strong.elapsed == weak.elapsed) == (strong.workers == 1)
        assert (strong.configuration["batch"], weak.varied["batch"]) == (256, 256 * weak.workers)


def test_two_plans_are_not_one_study(studies):
    mixed = [*studies[0].passes[:2], *studies[1].passes[2:]]
    # It said "None" of what the other one had declared.
    said = "configuration 'batch', got 256 with 1 worker and 512, declared in `varied`, with 2: "
    with pytest.raises(ValueError, match=said):
        rubric.of_passes(mixed)


# --- A batch that costs quality ---


@functools.cache
def trained(seed, **told):
    """Accuracy of a training of the chapter's on this process alone."""
    plan = Settings(**told)
    samples, batch, peak = plan.at(1)
    found = classifier.Classifier(plan.width, seed)
    with timing.threads(1):
        found.train(*classifier.drawn(samples, stream=1), batch, peak, plan.epochs, seed)
        return found.accuracy(*classifier.drawn(classifier.HELD_OUT, stream=0))


@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(s, marks=pytest.mark.thorough) for s in (1, 2))]
)
def test_an_oversized_batch_costs_quality_and_a_rate_that_grows_with_it_repairs_it(seed):
    """Of each of the chapter's seeds: the learning rate was chosen on others."""
    base = trained(seed)
    assert base - trained(seed, batch=1024, peak=classifier.RATE) > 0.02
    assert base - trained(seed, batch=1024) < 0.02


def test_a_seed_decides_everything():
    short = {"samples": 2048, "epochs": 1}
    assert trained(0, **short) == trained.__wrapped__(0, **short)


def test_the_rate_grows_with_the_batch_unless_a_plan_holds_it():
    small, large = (Settings(batch=batch).at(1)[2] for batch in (256, 1024))
    assert (small, large) == pytest.approx((classifier.RATE, 4 * classifier.RATE))
    assert Settings(batch=1024, peak=0.01).at(1)[2] == 0.01
    assert Settings(weak=True).at(2)[2] == pytest.approx(2 * classifier.RATE)


def test_the_rate_rises_and_falls_in_proportion():
    steps = [classifier.schedule(step, 10, 0.4) for step in range(10)]
    assert steps[:4] == pytest.approx([0.25, 0.5, 0.75, 1])
    assert steps[4:] == pytest.approx([1, 5 / 6, 4 / 6, 0.5, 2 / 6, 1 / 6])


# --- Serving it ---


def test_the_result_is_served_and_names_what_the_model_names():
    with timing.threads(1):
        answer = capstone.service(batch=4096)
    assert answer(3).shape == (3,)
    assert len(set(answer(3).tolist())) == 1  # the same request three times
    with serve.start(capstone.service, batch=4096) as server:
        import urllib.request

        urllib.request.urlopen(f"http://{server.host}:{server.port}/", timeout=30).read()
        assert len(server.busy()) == 1


# --- What is refused ---


@pytest.mark.parametrize(
    ("plan", "said"),
    [
        (Settings(batch=63), "batch must be a multiple of the 2 workers, got 63"),
        (Settings(batch={1: 64}), "batch must name every worker count, got none for 2"),
        (Settings(batch=2**20), "batch must be at most the 8192 samples"),
        (Settings(batch="64"), "batch must be a whole number"),
        (Settings(epochs=0), "epochs must be"),
        (Settings(warmup=1.0), "warmup must be"),
        (Settings(peak=0), "peak must be"),
        (Settings(price=0), "price must be"),
        ("strong", "plans must be Settings"),
    ],
)
def test_a_plan_that_cannot_run_is_refused_before_a_process_starts(plan, said):
    with pytest.raises(ValueError, match=said) as error:
        capstone.study((1, 2), plan)
    assert "\n" not in str(error.value)


# --- The command ---

SHORT = ("capstone", "--workers", "1,2", "--seeds", "2", "--epochs", "1", "--batch", "512")


def test_the_command_measures_judges_and_keeps(tmp_path):
    path = tmp_path / "study.json"
    done = scalelab(*SHORT, "--out", path)
    assert done.returncode == 0, done.stderr
    assert "accuracy" in done.stdout
    assert "efficiency" in done.stdout
    kept = records.from_json(path.read_text())
    assert [p.workers for p in kept.passes] == [1, 1, 2, 2]


def test_under_torchrun_the_ranks_are_the_workers_and_one_speaks():
    """Its engine is `agent`, which forks the ranks from a process with torch."""
    said = agent.run(worker_jobs.command, ((*SHORT, "--json"),), workers=2, limit=120)
    assert said[1] == (0, "", "")
    code, found, errors = said[0]
    assert (code, errors) == (0, "")
    assert [one["workers"] for one in json.loads(found)["passes"]] == [1, 1, 2, 2]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("--workers", "1,2", "--batch", "64,128,256"), "--batch must be one number or one for"),
        (("--workers", "two"), "--workers must be whole numbers"),
        (("--workers", "1,3"), "batch must be a multiple of the 3 workers"),
        (("--warmup", "nan"), "warmup must be"),
        (("--out", "/nowhere/study.json"), "/nowhere"),
    ],
)
def test_bad_options_are_one_sentence_and_exit_code_two(given, said):
    done = scalelab("capstone", *given)
    assert done.returncode == 2
    assert said in done.stderr
    assert done.stderr.count("\n") == 1
