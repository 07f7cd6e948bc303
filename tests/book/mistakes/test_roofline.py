"""Mistakes that section 3.7 once made, each as what is true instead."""

import dataclasses
import re

import nbformat
import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from scalelab import data, placement
from scalelab.cli import commands
from scalelab.cli.probe import command
from scalelab.measure.probe import layer, roofs
from scalelab.models.kernels import alarms, attention, kernels, roofline
from scalelab.models.machines import cores, hardware, reached
from scalelab.records import Machine, Sample
from scalelab.show.plots import roofline as figures
from tests.notebooks import ROOT, chapter

TEXT = "\n".join(chapter("07_roofline").markdown)
CODE = "\n".join(chapter("07_roofline").code)
CELLS = {cell.id: cell.source for cell in chapter("07_roofline").nb.cells}
H100 = hardware.device("H100 SXM")
ROOF = hardware.peak(H100, "bf16 tensor"), H100.bandwidth


def timed(seconds, name="kernel"):
    return Sample(name, (seconds,) * 9, 1, Machine("here", 2), "2026-01-01", "done", ())


@pytest.fixture(scope="module")
def dozen():
    return {case.name: case for case in placement.dozen()}


@pytest.mark.parametrize(
    ("seconds", "finding"),
    [(0.5, "impossible"), (1.0, "its clocks"), (1.5, "its clocks"), (10.0, "another cause")],
)
def test_a_poor_kernel_is_not_bounded_by_the_sum_of_its_clocks(seconds, finding):
    """One second of arithmetic and half of fetching: ten seconds are possible, and a finding."""
    kernel = kernels.Kernel("k", 1e9, 5e8)
    assert roofline.bounds(1e9, 5e8, 1e9, 1e9)[:2] == (1.0, 1.5)
    assert placement.judge(kernel, timed(seconds), 1e9, 1e9).finding == finding
    assert not re.search(r"\\le\s*(\\;)?\s*T\s*(\\;)?\s*\\le", TEXT)


def test_a_vector_that_is_named_twice_is_fetched_once(dozen):
    """The storage that the run holds is half of what the count names."""
    dot = dozen["dot"]
    held = {id(given): given.nbytes for given in dot.run.args}
    assert sum(held.values()) == dot.fetched == pytest.approx(dot.kernel.bytes / 2)


def test_what_is_fetched_is_what_a_run_reads_and_overwrites(dozen):
    """Every operand and every target once, by the storages that a run touches."""
    for name in ("copy", "axpy", "matrix · vector", "product 4 wide", "square product"):
        run = dozen[name].run
        target = getattr(run.func, "__self__", None)
        tensors = [one for one in (*run.args, target) if isinstance(one, torch.Tensor)]
        held = {one.untyped_storage().data_ptr(): one.nbytes for one in tensors}
        result = 0 if isinstance(target, torch.Tensor) else run().nbytes
        assert sum(held.values()) + result == pytest.approx(dozen[name].fetched), name


def test_softmax_and_layer_norm_are_slow_first_for_their_new_tables(dozen):
    for name in ("softmax", "layer norm"):
        first, second = dozen[name].run(), dozen[name].run()
        assert first.data_ptr() != second.data_ptr()
    used = torch.empty(4000, 4000)
    assert torch.softmax(torch.zeros(4000, 4000), 1, out=used).data_ptr() == used.data_ptr()
    assert "out=used" in CODE
    assert "an exponential is not one operation" not in TEXT


def test_the_copy_is_no_roof_for_lines_that_are_fetched():
    """With a memory that fetches one byte a second, a copy names as many as it fetches, an update twice."""
    ways = {case.name: case for case in placement.sweeps()}
    named = {name: case.kernel.bytes / case.fetched for name, case in ways.items()}
    assert named.pop("update in place") == 2
    assert set(named) == {"read", "read, two at once", "copy", "read, four abreast"}
    assert set(named.values()) == {1}
    axpy = kernels.axpy(16_000_000, 4)
    assert axpy.bytes / (2 * 16_000_000 * 4) == pytest.approx(
        1.5
    )  # what it beat the copy's slope by


def test_a_matrix_times_a_vector_is_not_held_under_the_roof_of_one_stream(dozen):
    """It goes along many rows at once, and was 1.2 times as fast as the roof that was drawn over it."""
    assert [name for name, case in dozen.items() if case.abreast] == ["matrix · vector"]
    assert [case.name for case in placement.sweeps() if case.abreast] == ["read, four abreast"]
    assert "abreast if case.abreast else reads" in CODE


def test_two_vectors_read_at_once_have_a_way_of_their_own():
    """What reads two vectors came faster than the roof of one, and stood above it without a word."""
    one, two, *_ = placement.sweeps()
    assert (one.name, two.name) == ("read", "read, two at once")
    held = {given.untyped_storage().data_ptr(): given.nbytes for given in two.run.args}
    assert sum(held.values()) == two.fetched == two.kernel.bytes == 2 * one.fetched
    assert not two.abreast
    assert "max(fetched[:4])" in CELLS["why-again"]
    assert "fastest of the first four" in CELLS["why-roof-read"]


def test_the_title_over_some_ways_does_not_count_them():
    """It said three, over four of them."""
    chart = figures.both_counts(["a", "b"], [1e9, 2e9], [1e9, 1e9], figures.MODEL)
    for title in (chart.title, CELLS["why-roof-table"]):
        assert not re.search(r"\b(two|three|four|five) ways", title, re.IGNORECASE)


def test_a_gain_is_foretold_by_both_clocks():
    """Three times was foretold and 2.3 came, for the arithmetic of the one walk need not hide."""
    names = {"kernels": roofline, "peak": 90e9, "reads": 45e9}
    exec(CELLS["move-foretold"], names)
    twice, once = 12 / 45 + 2 / 90, 4 / 45 + 2 / 90  # nanoseconds a number
    assert names["foretold"] == pytest.approx(twice / once) == pytest.approx(2.6)
    assert float(names["hidden"] / names["hidden_once"]) == pytest.approx(3)


def test_every_point_of_the_norm_is_held_against_a_slope_of_the_same_turns():
    """Two operations stood 1.16 times above a slope of other turns, and no alarm was asked."""
    assert "jobs |= {way.name: way.run for way in ways[:2]}" in CELLS["move-measure"]
    assert "min(norms[w.name].seconds) for w in ways[:2]" in CELLS["move-figure"]
    assert "kernels.over_the_roof(" in CELLS["move-alarm"]


def test_what_must_come_from_memory_is_larger_than_the_caches_of_a_laptop(dozen):
    """Products and a cache of 4 MB stood under the slope of main memory and never left a cache."""
    for case in dozen.values():
        if roofline.classify(case.kernel.flops, case.kernel.bytes, 50e9, 20e9) == "memory":
            assert case.kernel.bytes >= 64e6, case.name


def test_an_impossible_kernel_without_arithmetic_raises_the_alarm_too():
    found = placement.judge(kernels.copy(1000, 4), timed(4e-6), 1e9, 1e9)
    assert found.finding == "impossible"
    assert "2 GB/s is 2 times its roof of 1 GB/s" in found.alarm


def test_the_lists_of_remedies_share_items_and_differ_in_what_changes_nothing():
    lists = {kind: roofline.advice(kind) for kind in roofline.ADVICE}
    assert sum("narrower number" in advice for advice in lists.values()) == 2
    assert len({advice.split(". ")[-1] for advice in lists.values()}) == 3
    assert "exclude each other" not in TEXT


def test_neither_attention_moves_with_the_batch():
    for name, moves in (("product, writing", True), ("product, reading", True)):
        few, many = (figures.layer(n, 2048)[name].intensity for n in (1, 64))
        assert (many > 1.01 * few) == moves
    for name in ("attention, writing", "attention, reading"):
        few, many = (figures.layer(n, 2048)[name].intensity for n in (1, 64))
        assert few == many
    assert "which point does the batch never move" not in TEXT


@pytest.mark.parametrize(("heads", "shared"), [(64, 8), (32, 32), (8, 1)])
def test_attention_that_writes_has_the_intensity_of_query_heads_per_key_head(heads, shared):
    """By a loop over a short cache that counts each operation and each byte."""
    flops = moved = 0
    for _position in range(50):
        for _key_head in range(shared):
            moved += 2 * 128 * 2  # its key and its value, 16 bits each
            flops += heads // shared * 2 * 2 * 128
    assert flops / moved == heads / shared
    long = attention.decode(1_000_000, 128, 2, heads=heads, kv_heads=shared)
    assert long.intensity == pytest.approx(heads / shared, rel=1e-3)


def test_the_intensity_of_a_product_that_writes_is_its_batch():
    for batch in (1, 8, 64):
        assert kernels.gemm(batch, 10**6, 10**6, 2).intensity == pytest.approx(batch, rel=1e-3)


def test_an_alarm_on_a_gpu_names_no_clock_of_a_processor():
    said = alarms.over_the_roof(1.5e15, 2000, *ROOF, device="gpu")
    assert "CPU" not in said
    assert "sparse" in said
    assert "CPU" in alarms.over_the_roof(1.5e15, 2000, *ROOF, device="cpu")
    assert "zeros" in alarms.over_the_roof(1.1e15, 2000, *ROOF, device="gpu")


def test_eight_conversations_are_not_one():
    """40 layers of 5,120 in 16 bits: each of eight users reads 2,048 tokens of their own."""
    weights, cache = 26e9, 2048 * 40 * 2 * 5120 * 2
    seconds = {users: (weights + users * cache) / H100.bandwidth for users in (1, 8)}
    gain = 8 * seconds[1] / seconds[8]
    assert gain == pytest.approx(5.6, abs=0.05)
    assert "nearly eight times" not in TEXT


def test_three_walks_fetch_what_the_prediction_says():
    """Lines that come in for the norm in two operations and in one, by a cache that holds none."""
    fetched = {"multiply": {"numbers", "squares"}, "sum": {"squares"}, "dot": {"numbers"}}
    two = sum(4 * len(lines) for step, lines in fetched.items() if step != "dot")
    assert (two, two / (4 * len(fetched["dot"]))) == (12, 3)


def test_the_best_products_found_stay_below_the_printed_peak_and_right_of_the_corner():
    for one in reached.best_products():
        spec = hardware.device(one.device)
        corner = roofline.ridge(hardware.peak(spec, f"{one.format} tensor"), spec.bandwidth)
        m, n, k = one.shape
        by_hand = 2 * m * n * k / (one.width * (m * k + k * n + m * n))
        assert by_hand > corner
        assert 0.7 < one.share < 0.9
    shares = {(one.device, one.format): round(one.share, 3) for one in reached.best_products()}
    assert shares["A100 SXM 80GB", "bf16"] == 0.869
    assert shares["H100 SXM", "bf16"] == shares["H200 SXM", "bf16"] == 0.803
    assert shares["B200 SXM", "bf16"] == 0.776


def test_a_time_is_judged_anew_by_its_lines_and_not_measured_anew(dozen):
    case = dozen["axpy"]
    placed = placement.judge(case.kernel, timed(9e-3, case.name), 50e9, 12e9)
    again = placement.refetched(case, placed.sample, 50e9, 18e9)
    assert placed.finding == "impossible"
    assert again.finding == "its clocks"
    assert again.sample is placed.sample
    assert dataclasses.replace(again.kernel, bytes=case.kernel.bytes) == case.kernel


def test_accelerators_and_processors_with_matrix_units_have_their_ridges_on_the_same_side():
    """By printed numbers, in bf16: the processor's stands right of those of all four accelerators."""
    ridges = [
        roofline.ridge(hardware.fastest(one, "bf16"), one.bandwidth)
        for one in map(hardware.device, ("Xeon 8480+", *figures.DEVICES))
    ]
    assert ridges[0] == pytest.approx(373, abs=0.5)
    assert ridges[0] > max(ridges[1:])
    assert "far to the right of a processor's:" not in TEXT
    assert "373 for a Xeon 8480+" in TEXT


def test_the_ridge_of_narrower_numbers_lies_right_of_the_last_one_printed():
    """The chapter's recorded machine, from the slowest level, in fp32 and in bf16."""
    record = data.recorded("probe")
    rates, slowest = roofs.rates(record), [*roofs.bandwidths(record).values()][-1]
    fp32, bf16 = (roofline.ridge(rates[name], slowest) for name in ("fp32", "bf16"))
    assert fp32 < 3 < 11 < bf16 < 12
    assert "highest that this machine can have" not in TEXT
    assert "meets the same slope at 951 / 84.1 = 11.3." in TEXT


def test_the_measured_slope_is_the_best_of_copies_and_sums_and_is_named_so():
    """In the record either may be the faster one, level by level."""
    record = data.recorded("probe")
    best = {}
    for sample in record.samples:
        if "level" in sample.given:
            key = sample.given["level"], sample.given["what"]
            best[key] = max(best.get(key, 0.0), sample.given["bytes"] / sample.median)
    assert {what for _, what in best} == {"copy", "triad"}
    for level, bandwidth in roofs.bandwidths(record).items():
        assert bandwidth == max(best[level, "copy"], best[level, "triad"])
    assert "named by a copy" not in CODE
    assert "a slope measured by copies" not in TEXT


class Walks(TorchDispatchMode):
    """How often scores are written, and read, by the operations that touch them."""

    def __init__(self, numbers):
        super().__init__()
        self.numbers, self.written, self.read = numbers, 0, 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        if not func.is_view and "view" not in str(func):
            self.written += self._large(result)
            self.read += sum(map(self._large, args))
        return result

    def _large(self, given):
        return isinstance(given, torch.Tensor) and given.numel() == self.numbers


def test_the_separate_attention_walks_its_scores_as_often_as_the_count_says():
    """Written, read by the softmax and written, read again; the rest is queries, keys and values."""
    cell = next(cell for cell in chapter("07_roofline").code if "def naive" in cell)
    names = {"torch": torch}
    exec(cell.partition("\n\njobs")[0], names)
    with Walks(8 * 512 * 512) as walks:
        names["naive"]()
    scores = float(attention.naive(512, 512, 64, 4, heads=8).bytes) - 4 * 8 * 512 * 64 * 4
    assert walks.written + walks.read == scores / (8 * 512 * 512 * 4) == 4


def test_zeros_run_over_a_roof_that_was_measured_and_below_the_printed_one():
    """He's two rates on an A100, 295 and 257 TFLOP/s."""
    a100 = hardware.device("A100 SXM 80GB")
    printed = hardware.peak(a100, "bf16 tensor")
    assert alarms.over_the_roof(295e12, 1e4, printed, a100.bandwidth) is None
    assert "zeros" in alarms.over_the_roof(295e12, 1e4, 257e12, a100.bandwidth, device="gpu")
    assert "over a roof that was *measured*" in TEXT


def test_attention_of_the_dozen_uses_every_key_as_its_text_says(dozen):
    """With a mask it would be half of these, and the text would have to say so."""
    prompt = dozen["attention, prompt"]
    assert float(prompt.kernel.flops) == 2 * 2 * 8 * 64 * 512 * 512
    assert not {"is_causal", "attn_mask"} & set(prompt.run.keywords)
    assert "of 512 tokens, each query of which meets all 512 keys" in CELLS["place-sizes"]
    assert "\nNo *causal mask*" in CELLS["place-sizes"]


def test_a_kernel_without_multiply_adds_need_not_stop_at_half_of_the_peak():
    """GFLOP/s of one Zen 3 core, by the page that the catalogue names for its units."""
    assert "vfpbench" in cores.design("AuthenticAMD", 25, 33).source
    multiply_adds, adds, multiplies_beside_adds = 120.290, 64.267, 128.218
    assert multiplies_beside_adds > multiply_adds
    assert adds / multiply_adds == pytest.approx(0.5, abs=0.05)
    assert "a kernel that only adds meets about half of it" in CELLS["limits-head"]


def test_neither_attention_stands_at_an_end_of_the_figure(dozen):
    intensity = {name: float(case.kernel.intensity) for name, case in dozen.items()}
    drawn = sorted((name for name in intensity if intensity[name]), key=intensity.get)
    assert {drawn[0], drawn[-1]} == {"axpy", "square product"}
    times = intensity["attention, prompt"] / intensity["attention, one token"]
    assert f"the prompt does {times:.0f} times as many operations" in CELLS["place-attentions"]


def test_narrower_numbers_help_arithmetic_only_where_there_are_units_for_them():
    rates = roofs.rates(data.recorded("probe"))
    assert rates["fp16"] < rates["fp32"] < rates["bf16"]
    assert "where the processor has units for them" in CELLS["place-advice-read"]


def test_more_flops_change_nothing_only_while_a_kernel_is_close_to_its_slowest_clock():
    """Bound by memory, with 0.9 s of arithmetic beside 1 s of bytes, and then twice the FLOP/s."""
    least, apart, _ = roofline.bounds(0.9, 1.0, 1.0, 1.0)
    faster_least, faster_apart, _ = roofline.bounds(0.9, 1.0, 2.0, 1.0)
    assert roofline.classify(0.9, 1.0, 1.0, 1.0) == "memory"
    assert faster_least == least
    assert faster_apart / apart == pytest.approx(1.45 / 1.9)
    for said in ("It holds for a kernel whose time is close to its slowest clock.", "Near the sum"):
        assert said in CELLS["place-advice-read"]
    assert CELLS["yours-read"].count("what it can reach") == 2


def test_a_slope_is_no_fact_before_the_claim_that_leaves_it_room():
    allowed = float(re.search(r"most=([\d.]+)", CELLS["why-claim"])[1])
    assert allowed > 1
    assert "up to the noise of two measurements" in CELLS["why-roof-read"]


@pytest.mark.parametrize("side", [1, 2, 4, 8])
def test_the_smaller_the_blocks_of_a_product_the_less_often_a_number_is_used(side):
    """By a loop over the blocks of a product of 8 by 8: what keeps small ones dear is no start."""
    fetched = 0
    for _row in range(0, 8, side):
        for _column in range(0, 8, side):
            for _inner in range(0, 8, side):
                fetched += 2 * side**2
    assert fetched == 2 * 8**3 / side
    assert "each number leaves before it has been used often" in CELLS["move-blocks-libraries"]


def test_every_kernel_with_a_name_of_its_own_is_explained_before_it_is_counted(dozen):
    plain = ("copy", "matrix · vector", "product", "square product")
    named = {name.split(",")[0] for name in dozen if not name.startswith(plain)}
    text = CELLS["place-names"] + CELLS["place-names-attention"]
    explained = {name.lower() for name in re.findall(r"\*([\w ]+)\*", text)}
    assert explained - {"score", "causal mask"} == named  # which are no kernels
    assert len(named) == 5
    assert CELLS["place-names"].startswith("Five names")


def test_the_sizes_that_the_text_gives_make_the_counts_of_the_dozen(dozen):
    """Each row by hand, from the numbers of the cell and of the attentions in the one before."""
    text = CELLS["place-names-attention"] + CELLS["place-sizes"]
    for given in ("16 million", "4,000 by 4,000", "side 1,024", "4,096 by 4,096", "4, 32 or 256"):
        assert given in CELLS["place-sizes"]
    assert "eight times side by side, with vectors of 64 numbers" in text
    assert "has 4 bytes" in text
    table, matrix, tokens = 4000**2, 4096**2, {"one token": 16_384, "prompt": 512 * 512}
    flops = {"copy": 0, "axpy": 2 * 16e6, "dot": 2 * 16e6, "softmax": 5 * table}
    flops |= {"layer norm": 7 * table, "matrix · vector": 2 * matrix, "square product": 2 * 1024**3}
    flops |= {f"product {width} wide": 2 * width * matrix for width in (4, 32, 256)}
    flops |= {f"attention, {way}": 2 * 2 * 8 * 64 * met for way, met in tokens.items()}
    assert {name: float(case.kernel.flops) for name, case in dozen.items()} == flops


def test_a_kernel_that_waits_for_its_start_is_explained_by_its_clocks():
    """Three clocks, and the table of kernels counts the third."""
    tiny = kernels.Kernel("tiny", 1e3, 1e3)
    assert placement.judge(tiny, timed(5e-6), 1e9, 1e9).finding == "another cause"
    assert placement.judge(tiny, timed(5e-6), 1e9, 1e9, 4e-6).finding == "its clocks"
    assert placement.judge(tiny, timed(3e-6), 1e9, 1e9, 4e-6).finding == "its clocks"
    assert "the slowest of three clocks and their sum" in CELLS["place-read-verdicts"]
    assert "undercuts arithmetic or memory" in CELLS["place-read-verdicts"]


def test_a_quarter_above_the_sum_of_its_clocks_is_no_other_cause_yet():
    """The room stood where the last table was read, and not where the verdicts were explained."""
    kernel = kernels.Kernel("k", 1e9, 5e8)  # one second and half a one
    assert placement.judge(kernel, timed(1.24 * 1.5), 1e9, 1e9).finding == "its clocks"
    assert placement.judge(kernel, timed(1.26 * 1.5), 1e9, 1e9).finding == "another cause"
    assert "and their sum, or at most a quarter above it" in CELLS["place-read-verdicts"]
    assert "within a quarter above the sum" in CELLS["why-cause"]
    assert "a quarter above the sum of its clocks" in CELLS["why-cause-all"]


def test_a_tenth_above_its_roof_is_no_alarm_yet():
    kernel = kernels.Kernel("k", 1e9, 1e9)
    assert "more than a tenth faster than its roof" in CELLS["place-read-verdicts"]
    assert placement.judge(kernel, timed(1 / 1.09), 1e9, 1e9).alarm is None
    assert placement.judge(kernel, timed(1 / 1.11), 1e9, 1e9).alarm
    assert "A tenth above the roof passes" in CELLS["alarm-yours-read"]


def test_a_published_kernel_passes_the_best_product_that_one_search_found():
    share, rate = re.search(r"now reach (\d+)%, (\d+) TFLOP/s", CELLS["frontier-box"]).groups()
    assert round(100 * float(rate) * 1e12 / ROOF[0]) == int(share)
    best = {(one.device, one.format): one for one in reached.best_products()}["H100 SXM", "bf16"]
    assert float(rate) * 1e12 > best.rate
    assert "A reached roof is no bound" in CELLS["accel-theory-gap"]


def test_the_product_of_the_layer_is_the_one_whose_weights_the_text_gives():
    rows, columns = (
        float(side.replace(",", ""))
        for side in re.search(
            r"weight matrix of ([\d,]+) by ([\d,]+)", CELLS["accel-layer"]
        ).groups()
    )
    for sequences in (1, 64, 512):
        found = figures.layer(sequences, 2048)["product, writing"].intensity
        assert found == pytest.approx(1 / (1 / sequences + 1 / rows + 1 / columns))


def test_one_row_of_the_source_stands_for_two_accelerators():
    found = {(one.device, one.format): one for one in reached.best_products()}
    h100, h200 = (found[name, "bf16"] for name in ("H100 SXM", "H200 SXM"))
    assert (h100.shape, h100.rate) == (h200.shape, h200.rate)
    assert "one row for the H100 and the H200" in CELLS["accel-reached"]


def test_four_accelerators_are_five_rows_for_one_comes_with_two_memories():
    kinds = [name.split()[0] for name in figures.DEVICES]
    assert len(kinds) == 5
    assert len(set(kinds)) == 4
    assert kinds.count("A100") == 2
    assert "Here are four, the A100 with either of its memories:" in CELLS["accel-head"]


def test_the_formula_is_turned_round_only_for_a_core_that_is_known():
    known = cores.theory("AuthenticAMD", 25, 17, 512, clock=None)
    unknown = cores.theory("GenuineIntel", 6, 85, 512, clock=None)
    assert "takes" in known.beside(1e11)
    assert "takes" not in unknown.beside(1e11)
    assert "if at least its core is known" in CELLS["yours-theory-read-on"]


def test_three_kernels_one_after_the_other_are_no_single_point():
    """Each under its own roof: beside the fused call they take 1 + r/32 as long, r being the corner."""
    peak = 1e11
    for corner in (2.5, 3.75, 14.0):
        slope = peak / corner
        parts = [kernels.gemm(512, 512, 64, 4, batch=8), kernels.softmax(8 * 512, 512, 4)]
        parts.append(kernels.gemm(512, 64, 512, 4, batch=8))
        apart = sum(max(float(p.flops) / peak, float(p.bytes) / slope) for p in parts)
        products = 2 * 2 * 8 * 512 * 512 * 64 / peak
        assert apart / products == pytest.approx(1 + corner / 32, rel=0.01)
    assert "a factor of $1 + r/32$" in TEXT


def test_every_format_that_was_measured_has_a_roof_and_a_row():
    """Of one core, bf16, int8 and fp64 were measured and only fp32 was drawn."""
    rate = {"fp64": 4e10, "fp32": 9e10, "bf16": 4e11}
    names = {"rate": rate, "width": {"DRAM": 4e10}, "slow": "DRAM", "kernels": roofline}
    exec(CELLS["yours-table"].partition('known["ridge')[0].partition("known[f")[0], names)
    assert list(names["flat"]) == ["fp32", "fp64", "bf16"]
    assert names["known"]["bf16, GFLOP/s"] == 400
    assert 'figures.roofs("Your roofs", flat,' in CELLS["yours-figure"]
    assert "The calculated flat is drawn for fp32 alone." in CELLS["yours-theory-text-on"]


def test_a_heading_announces_only_what_its_section_shows():
    """It promised Nsight Compute, of which nothing was run here."""
    assert "Nsight" not in CELLS["library-head"].splitlines()[0]


def test_a_vector_named_twice_has_a_home_in_the_assignment():
    tasks = {
        c.id: c.source
        for c in nbformat.read(ROOT / "solutions/07_roofline/07_roofline.ipynb", 4).cells
    }
    assert "`torch.dot(x, x)`" in tasks["question-3-3"]
    # Counted twice it reads at most two times what the memory gives.
    listed = re.search(r"b=\[([^]]+)\]", tasks["numbers-3-3"])[1].split(", ")
    assert 3.35e12 < max(map(float, listed)) < 2 * 3.35e12
    assert "half of all $n^2$ pairs" in tasks["question-2-2"]


def test_the_roof_of_a_matrix_times_a_vector_is_the_one_that_its_text_names():
    """The last of five ways was said to be it, and the copy's, which was faster, was taken."""
    fetched = [38.2, 40.7, 33.8, 44.7, 39.7]
    names = {"fetched": fetched, "dozen": []}
    exec(CELLS["why-again"].partition("for case")[0], names)
    assert names["abreast"] == max(fetched) != fetched[-1]
    assert "its slope is the fastest of all five" in CELLS["why-roof-read"]
    assert len(placement.sweeps()) == len(fetched)


def test_a_device_has_four_flats_and_more_formats():
    """One flat was said to be there for each format."""
    for name in figures.FOUND.values:
        flats = [one for one in figures.published(name).series if one.kind == "dashed"]
        assert len(flats) == 4 < len(hardware.device(name).peaks)
    assert "one flat for each of four number formats" in CELLS["accel-theory-read"]


def test_attention_goes_along_the_roof_of_one_device_and_any():
    assert len(figures.YOURS.values) > 4
    assert "four accelerators" not in CELLS["you-will"]


def test_what_a_core_is_the_record_does_not_say():
    """Its processor was said to keep it to itself, of which the next page says that it tells."""
    record = data.recorded("probe")
    machine = dataclasses.asdict(record.samples[0].machine)
    assert not {"vendor", "family", "model"} & set(machine)
    assert "the record names an *AMD EPYC*, and not which core" in CELLS["recorded-peak-which"]
    assert "A processor tells which core it has" in CELLS["yours-theory-text-on"]


@pytest.mark.parametrize("width", [0.5, 0.75, 1, 2])
def test_a_row_does_two_operations_for_each_weight_and_so_one_for_each_byte_of_two(width):
    """A check said that it does more than one for each byte, also of weights in 16 bits."""
    product = kernels.gemm(1, 4096, 4096, width)
    per_byte = float(product.flops) / (4096 * 4096 * width)
    assert per_byte == 2 / width
    tasks = (ROOT / "solutions/07_roofline/07_roofline.ipynb").read_text()
    assert "a row does 2 / width FLOP per byte of weights" in tasks


def test_it_is_in_bf16_that_accelerators_have_their_ridges_far_to_the_right():
    """In all formats of their matrix units, it said; in fp64 an A100 has it left of the recorded 11."""
    record = data.recorded("probe")
    recorded = roofs.rates(record)["bf16"] / [*roofs.bandwidths(record).values()][-1]
    accelerators = [hardware.device(name) for name in figures.DEVICES]
    for name, far in (("bf16 tensor", True), ("fp64 tensor", False)):
        ridges = [hardware.peak(one, name) / one.bandwidth for one in accelerators]
        assert (min(ridges) > 10 * recorded) == far == (min(ridges) > recorded)
    assert "\nIn bf16, accelerators have a ridge far to the right" in CELLS["accel-head"]


def test_a_changed_line_is_promised_for_no_more_points_than_have_one():
    """Each of four points was to have one; axpy has a slope that is measured anew."""
    assert "axpy" not in CELLS["why-pairs"]
    assert '"axpy"' in CELLS["why-figure"]
    assert "one changed line" not in CELLS["why-head"]


def test_the_command_that_is_said_to_use_all_cores_uses_no_gpu():
    """It was given without a device, and takes the GPU then, where there is one."""
    said = re.search(r"`scalelab probe([^`]*)`([^.]*)", CELLS["yours-text"])
    assert "takes minutes, uses all cores" in said[2]
    # Under the others, as a shell has it: by itself it would remember for good that help has no -h.
    above = commands.make_context("scalelab", ["probe"])
    taken = command.make_context("probe", said[1].split(), parent=above).params
    assert (taken["device"], taken["quick"]) == ("cpu", False)


def test_one_operation_is_too_few_for_a_number_from_the_first_cache():
    """One or two were said to do; at one the cache is still the limit."""
    record = data.recorded("probe")
    corner = 4 * roofline.ridge(roofs.rates(record)["fp32"], roofs.bandwidths(record)["L1d"])
    assert 1.1 < corner < 2
    assert CELLS["recorded-ridge-read"].endswith("For one from the first cache, two will do.")


def test_the_longest_time_is_the_lowest_rate_of_the_copies_and_not_of_the_products():
    """A hint said of both that it is not."""
    samples = data.recorded("probe").samples
    heated = [s for s in samples if s.given.get("phase") == "sustained"]
    products = [s for s in heated if s.given["format"] == "fp32"]
    copies = [s for s in samples if (s.given.get("what"), s.given.get("level")) == ("copy", "DRAM")]
    for runs, work, lowest in ((products, "flops", False), (copies, "bytes", True)):
        longest = max(runs, key=lambda s: s.median)
        rates = [s.given[work] / s.median for s in runs]
        assert (longest.given[work] / longest.median == min(rates)) == lowest
    hint = (ROOT / "solutions/07_roofline/07_roofline.ipynb").read_text()
    assert "The longest time need not be the lowest rate" in hint


def test_layer_norm_is_run_with_the_gain_and_the_bias_that_its_count_has(dozen):
    """Seven operations a number were counted of a call that did five."""
    source, shape, gain, bias = dozen["layer norm"].run.args
    assert gain.shape == bias.shape == torch.Size(shape)
    assert source.shape[1:] == gain.shape
    assert "leaves out" not in TEXT


def test_a_second_vector_brings_dot_nearer_to_its_count_and_no_farther_is_said():
    """It was to agree, and came out faster than the count allows: two streams have a slope of their own."""
    assert "makes the run agree with its count" not in TEXT
    assert "nearer to its count" in CELLS["why-dot-second"]
    assert "It need not take twice as long" in CELLS["why-dot-second"]


def test_no_heading_counts_the_points_that_stand_wrong():
    """It said three; a machine had eight of twelve, and its cell counts them."""
    assert CELLS["why-head"].startswith("### Points in the wrong place")
    placed = [placement.judge(kernels.copy(1000, 4), timed(t), 1e9, 1e9) for t in (4e-6, 8e-6)]
    names = {"placed": placed}
    exec(CELLS["place-off"].partition("\nprint")[0], names)
    assert names["off"] == ["kernel"]


def test_a_second_flat_is_spoken_of_only_where_one_may_be_drawn():
    """Two paragraphs compared it with the measured one, on a page that had none."""
    assert CELLS["yours-theory-read-on"].startswith(
        ":::{dropdown} If the line above the figure names your core"
    )
    assert "the figure has no second flat" in CELLS["yours-theory-missing"]


def test_an_alarm_is_printed_to_more_digits_than_the_tenth_that_passes():
    """It read 1.1 times its roof, above a sentence by which a tenth passes."""
    assert "{one.share:.3f} times its roof" in CELLS["alarm-yours"]
    found = placement.judge(kernels.copy(1000, 4), timed(8e-6 / 1.103), 1e9, 1e9)
    assert found.alarm
    assert f"{found.share:.3f}" == "1.103"


def test_a_bar_that_a_story_tells_is_not_said_to_be_in_a_data_sheet():
    assert "invented" in figures.above("H100 SXM", {"claimed": 1.1e15}).stamp.text
    assert "invented" in figures.tokens({"H100 SXM": {"as it was": 60}}, 26e9).stamp.text


@pytest.fixture(scope="module")
def on_h100():
    """What was recorded, as (seconds, what it must do and move), by name and clock."""
    return {
        (one.label, one.given["clock"]): (one, placement.counted(one))
        for one in data.recorded("h100").samples
    }


def roofed(on_h100, name, clock="graph"):
    sample, counted = on_h100[name, clock]
    flat = hardware.peak(H100, f"{sample.given.get('format', 'bf16')} tensor")
    return placement.judge(counted, sample, flat, H100.bandwidth, device="gpu")


def test_a_graph_takes_more_than_half_of_a_small_layer_and_little_of_a_large_one(on_h100):
    small, large = (
        [1e6 * on_h100[f"layer of {size} writes for 1", c][0].median for c in ("device", "graph")]
        for size in ("1B", "70B")
    )
    assert "takes 229 µs when launched, and 95 when replayed" in CELLS["launch-recorded-read"]
    assert [round(one) for one in small] == [229, 95]
    assert small[1] < small[0] / 2, "the starts were more than half of its time"
    assert "saves about 50 µs of 672" in CELLS["launch-recorded-read"]
    assert [round(large[0] - large[1]), round(large[0])] == [50, 672]
    rest = small[1] / (1e6 * on_h100["layer of 1B writes for 1", "graph"][1].bytes / H100.bandwidth)
    assert "2.5 times as long as its bytes need" in CELLS["launch-recorded-rest"]
    assert round(rest, 1) == 2.5


def test_a_product_on_a_gpu_stands_where_its_text_says(on_h100):
    said = CELLS["accel-measured-read"] + CELLS["accel-measured-corner"]
    few = [roofed(on_h100, f"product of {n}, bf16") for n in (1, 4, 16, 64)]
    narrow = [roofed(on_h100, f"product of {n}, fp8") for n in (16, 64)]
    assert "at 82 to 87% of it" in said
    assert [round(f(one.share for one in few + narrow), 2) for f in (min, max)] == [0.82, 0.87]
    one, many = few[0].sample.median, few[-1].sample.median
    assert "64 tokens take 6% longer than one: 171 µs against 162" in said
    assert (round(many / one, 2), round(1e6 * many), round(1e6 * one)) == (1.06, 171, 162)
    corner = roofed(on_h100, "product of 256, bf16")
    assert "256 tokens take 210 µs, between the 146 of the slower clock and the 267 of" in said
    assert [round(1e6 * t) for t in (corner.sample.median, corner.least, corner.apart)] == [
        210,
        146,
        267,
    ]
    for name in ("bf16", "fp8"):
        last = roofed(on_h100, f"product of 4096, {name}")
        assert last.kind == "compute"
        assert last.share == pytest.approx(0.7, abs=0.025), "about 70%, in either format"


def test_attention_that_writes_stands_above_itself_and_one_that_reads_moves_right(on_h100):
    writes = [roofed(on_h100, f"attention of {n} writes") for n in (1, 16, 64)]
    assert len({one.intensity for one in writes}) == 1
    assert "one sequence reaches 9% of the slope" in CELLS["accel-measured-attention"]
    assert round(writes[0].share, 2) == 0.09
    assert round(writes[-1].share, 2) == 0.87
    reads = [roofed(on_h100, f"attention reads {n}") for n in (512, 2048, 8192)]
    assert reads[0].intensity < reads[1].intensity < reads[2].intensity
    assert round(max(one.share for one in reads), 2) == round(reads[-1].share, 2) == 0.57
    assert "it reaches 28% of the slope" in CELLS["accel-measured-prompt"]
    assert reads[0].intensity < roofline.ridge(*ROOF)
    assert round(reads[0].share, 2) == 0.28
    assert round(float(reads[0].kernel.bytes) / 1e6) == 19
    assert max(reads[0].sample.median, writes[0].sample.median) < 30e-6


def test_what_a_graph_leaves_of_a_start_is_about_a_microsecond(on_h100):
    assert "7.2 µs when launched and 1.2 when replayed" in CELLS["launch-recorded-rest"]
    times = [on_h100["add ten numbers", clock][0].median for clock in ("device", "graph")]
    assert [round(1e6 * one, 1) for one in times] == [7.2, 1.2]
    layer_of = [on_h100["layer of 1B writes for 1", c][0].median for c in ("device", "graph")]
    assert layer_of[0] - layer_of[1] > 13 * (times[0] - times[1])
    assert "more than thirteen times these 6 µs" in CELLS["launch-recorded-calls"]


def test_the_products_of_the_large_layer_fetch_nearly_all_that_it_needs(on_h100):
    given = on_h100["layer of 70B writes for 1", "graph"][0].given
    shape = layer.LayerShape(*(given[name] for name in layer.LayerShape.__dataclass_fields__))
    one = shape.fused + shape.heads * shape.head_size + 3 * shape.inner
    assert 2 * shape.hidden * one > 0.99 * on_h100["layer of 70B writes for 1", "graph"][1].bytes


def test_both_that_lie_below_a_printed_peak_are_named_right_before():
    """Two rates of an H100 once stood between the two of an A100 and what is said of them."""
    ids = list(CELLS)
    assert ids.index("alarm-read-on") == ids.index("alarm-read") + 1
    assert CELLS["alarm-read-on"].startswith("Both are below the A100's printed peak")


def test_only_softmax_and_layer_norm_stay_far_below_the_slope_of_a_gpu(on_h100):
    names = re.findall(r'"([^"]+)"', CELLS["accel-measured-names"].split("product", 1)[0])
    assert names[:2] == ["layer norm", "softmax"]
    slope = [f"product of {n}, bf16" for n in (1, 64)] + ["product of 64, fp8"]
    slope += ["attention of 64 writes", "layer of 70B writes for 16"]
    copy = roofed(on_h100, "copy", "device")
    shares = [roofed(on_h100, name).share for name in slope] + [copy.share]
    assert all(roofed(on_h100, name).kind == "memory" for name in [*slope, "softmax", "layer norm"])
    assert [round(f(shares), 2) for f in (min, max)] == [0.82, round(copy.share, 2)] == [0.82, 0.89]
    rate = copy.kernel.bytes / copy.sample.median
    soft, norm = (roofed(on_h100, name) for name in ("softmax", "layer norm"))
    beside = [one.sample.median / (one.kernel.bytes / rate) for one in (soft, norm)]
    assert 2.85 < beside[0] < 3, "nearly three times"
    assert round(beside[1], 1) == 1.6
    replayed = on_h100["copy", "graph"][0].median / copy.sample.median
    assert round(replayed, 2) == 1.23, "a graph copies by other means and takes 23% longer"


def test_zeros_are_faster_and_need_half_of_the_energy_on_a_gpu(on_h100):
    kinds = ("bf16", "bf16, of zeros")
    joules = [on_h100[f"square product, {one}", "device"][0].given["joules"] for one in kinds]
    assert 0.5 < joules[1] / joules[0] < 0.55, "little more than half of the energy"
    times = [on_h100[f"square product, {one}", "device"][0].median for one in kinds]
    assert 1.2 < times[0] / times[1] < 1.22, "a fifth"
