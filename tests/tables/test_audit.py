"""What is wrong with a scaling table: every finding, where it belongs and nowhere else."""

import dataclasses
import itertools
import math
import random

import pytest
from hypothesis import given, strategies as st

from scalelab.data import datasets
from scalelab.models.scaling import laws
from scalelab.refusal import Refusal
from scalelab.tables import shape, sizes
from scalelab.tables.audit import SEVERITIES, audit
from scalelab.tables.table import Row, ScalingTable, of_series, parse, read
from tests.cases import every

K = (1, 2, 4, 8, 16)
# What is found on each public series, beside the notes that its size deserves, and why it is true.
# Of those that are not named here nothing but a note is said.
FOUND = {
    "usl_specsdm91": ["turns_back"],  # 1702 scripts an hour at 216 users, 1853 at 72
    "sysbench_cpu": ["hard_cap"],  # four hardware threads
    # The first rows accumulate gradients over 4 or 8 micro-batches, the others over none.
    **{f"mpt_a100_40_{size}": ["batch"] for size in ("7b", "3b", "760m", "350m", "125m")},
    "mpt_a100_40_1b": ["batch", "outlier"],  # 45% of the peak at 32, 55% around it
    # Headed weak scaling, with a global batch that never changes.
    **{
        f"nv_bert_tf2_{name}": ["mislabelled"]
        for name in (
            "a100_seq128_fp16",
            "a100_seq128_tf32",
            "a100_seq512_fp16",
            "dgx2_1node_seq128_fp16",
            "dgx2_1node_seq512_fp16",
        )
    },
    "nv_bert_tf2_a100_seq512_tf32": ["mislabelled", "fast_baseline"],  # 86% at 16, and 81% at 256
    "megatron2021_weak_a100": [
        "superlinear"
    ],  # 163 TFLOP/s per GPU with 1008 G parameters, 137 with 1.7
    # Between 8 and 64 times the GPUs, 1.3 to 7 times the batch.
    **{f"mlperf1.0_nvidia_{name}": ["batch"] for name in ("dlrm", "unet3d")},
    "mlperf1.0_nvidia_bert": ["batch", "few_points"],  # and two sizes
    "mlperf1.0_nvidia_rnnt": ["few_points"],  # two sizes
    "vasp_tio2_archer": ["outlier"],  # 2.27 times from 16 to 32 nodes, 1.76 times before
    "vasp_tio2_archer2_libsci_ofi": ["superlinear", "turns_back"],  # 1.08 on 2; 16 do more than 32
    "dlperf_weak_tf2_resnet50_amp": ["outlier"],  # the first step off a node gains 1.43
    "hoomd_hexagon_psg_k80": ["outlier"],  # 64% on 4 GPUs, 55% on 16
    "hoomd_microsphere_psg_k80": ["outlier"],  # 47% on 4 GPUs, 29% on 16
    "oceananigans_shallow_weak_threads": ["fast_baseline"],  # 49% on 2 threads, and 47% on 32
    "nanotron_tp_h100": ["turns_back"],  # fewer tokens on 32 GPUs than on 8
    **{
        f"sysbench_{name}": ["superlinear", what]  # a client of several does more than one alone
        for name, what in (
            ("readonly_myrocks_aug5", "hard_cap"),  # 215,344 to 217,699 from 64 clients on
            ("readonly_innodb5626", "turns_back"),
            ("readwrite_innodb5626", "turns_back"),
            ("readwrite_myrocks_aug5", "hard_cap"),
            ("updindex_innodb5626_1m", "hard_cap"),
        )
    },
    "sysbench_updindex_innodb5626_10m": ["turns_back"],
    "myrocks_updateinlist_56hw": ["turns_back"],
    # All threads together get less done than one: it looks like weak scaling, or nothing scales.
    "go_atomic_int64": ["mislabelled"],
    "go_syncmap_reads75": ["mislabelled"],
    "gpssdrsim_omp_issue11": ["mislabelled"],
    "tbb_concurrent_queue_dequeue_issue109": ["per_worker"],
    "go_xsync_mpmcqueue": ["outlier"],  # 1.22 times on 2 threads, 1.85 times on 4
    "torchgpipe_unet_p40": ["outlier"],  # 1.45 times, then 1.89 times
    "torchgpipe_resnet101_p40": ["outlier"],  # 1.66, 1.96 and 1.55 times, with other batches
    "pencilcode_dardel_256_cray": ["turns_back"],
    "pencilcode_dardel_512_gnu": ["turns_back"],
    "pencilcode_dardel_1024_gnu": ["superlinear"],  # the first row is slow
    "pencilcode_dardel_2048_gnu": ["outlier"],  # 62% at 16,384, and 73% at 32,768
    "pencilffts_n2048_jeanzay": ["turns_back"],
    "lanl_weak_vibe_crossroads": ["turns_back"],
    "lanl_umt_spp1_crossroads": ["outlier", "superlinear"],  # 51% at 88, 56% at 112; 1.06 at 8
    "lanl_weak_stream_cts1": ["turns_back"],
    "dorado_fast_a100_issue208": ["turns_back"],
    "lightgbm_higgs_xeon_issue736": ["turns_back"],
    "oceananigans_threads_power9": ["hard_cap"],  # 10.0 to 10.2 times one from 64 threads on
    "peridynamics_jl_threads_pull9": ["turns_back"],
    "aztec_sha256_proof_threads": ["turns_back"],
    "synergia_weak_c4_8xlarge_issue74": ["turns_back"],
    "metrics_net_work_gist": ["turns_back"],
}
SERIES = [datasets.load(name) for name in datasets.names()]
TABLES = [s for s in SERIES if s.seconds or s.throughput]


def table(
    seconds=None, throughput=None, workers=K, *, title="", name="runs", each=False, units=(), **more
):
    """A table of columns, one run per row unless workers repeat."""
    measure = "seconds" if throughput is None else "throughput"
    columns = {"workers": workers, measure: seconds or throughput} | more
    rows = [dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True)]
    rows = tuple(Row(line, **row) for line, row in enumerate(rows, 2))
    return ScalingTable(name, rows, measure, title, each, tuple(units))


def rate(workers=K, serial=0.02):
    return [100 * k / (1 + serial * (k - 1)) for k in workers]


def time(workers=K, serial=0.02):
    return [6000 / r for r in rate(workers, serial)]


def names(found):
    return [f.name for f in found if f.severity != "note"]


def the(name, found):
    (one,) = [f for f in found if f.name == name]
    return one


@every("series", TABLES, ids=lambda s: s.name)
def test_each_public_series_gets_what_it_deserves_and_no_more(series):
    assert names(audit(of_series(series))) == FOUND.get(series.name, [])


@every("series", TABLES, ids=lambda s: s.name)
def test_notes_on_a_public_series_follow_from_its_sizes(series):
    notes = {f.name for f in audit(of_series(series)) if f.severity == "note"}
    again = len(series.workers) > len(set(series.workers))
    expected = set() if again else {"one_run"}
    expected |= {"relative_base"} if min(series.workers) > 1 else set()
    expected |= {"few_points"} if len(set(series.workers)) == 3 else set()
    assert notes == expected


def test_the_named_series_exist_and_most_get_notes_only():
    assert set(FOUND) <= set(datasets.names())
    assert len(TABLES) == 136
    assert len(FOUND) < len(TABLES) / 2 + 1


def test_a_good_table_with_replicates_is_left_alone():
    good = table(
        throughput=[r * noise for r in rate() for noise in (0.99, 1, 1.01)],
        workers=[k for k in K for _ in range(3)],
        title="Strong scaling",
        batch=[256] * 15,
        quality=[0.76] * 15,
        rate=[2.5 * k for k in K for _ in range(3)],
        run=["1", "2", "3"] * 5,
        machine=["a"] * 15,
    )
    assert audit(good) == []


def test_one_size_is_no_baseline():
    found = audit(table(seconds=[5, 6], workers=[8, 8]))
    assert the("no_baseline", found).severity == "error"


def test_efficiency_of_a_larger_base_is_relative():
    found = the("relative_base", audit(table(seconds=time(), workers=[8 * k for k in K])))
    assert "8 workers" in found.text
    assert found.rows == (2,)


@pytest.mark.parametrize(("count", "severity"), [(2, "warning"), (3, "note"), (4, None)])
def test_few_points_are_counted_by_size(count, severity):
    found = [
        f for f in audit(table(seconds=time()[:count], workers=K[:count])) if f.name == "few_points"
    ]
    assert [f.severity for f in found] == ([severity] if severity else [])


def test_one_row_per_size_is_one_run():
    assert "one_run" in [f.name for f in audit(table(seconds=time()))]
    twice = table(
        seconds=[t * n for t in time() for n in (1, 1.01)], workers=[k for k in K for _ in "ab"]
    )
    assert "one_run" not in [f.name for f in audit(twice)]


def test_a_run_that_stands_twice_is_a_duplicate_and_a_replicate_is_not():
    workers = (*K, 16)
    same = audit(table(seconds=[*time(), time()[-1]], workers=workers))
    assert the("duplicates", same).rows == (7,)
    other = table(seconds=[*time(), time()[-1] * 1.01], workers=workers)
    assert "duplicates" not in names(audit(other))
    numbered = dataclasses.replace(
        other, rows=tuple(dataclasses.replace(row, run="1") for row in other.rows)
    )
    assert the("duplicates", audit(numbered)).rows == (7,)


@pytest.mark.parametrize("quantity", ["work", "batch"])
def test_weak_by_name_and_strong_by_its_column_is_mislabelled(quantity):
    found = audit(table(throughput=rate(), title="Weak scaling", **{quantity: [512] * 5}))
    assert names(found) == ["mislabelled"]
    assert "weak scaling" in the("mislabelled", found).text


@pytest.mark.parametrize("quantity", ["work", "batch"])
def test_strong_by_name_and_growing_by_its_column_is_mislabelled(quantity):
    grown = {quantity: [64 * k for k in K]}
    assert names(audit(table(throughput=rate(), title="strong scaling", **grown))) == [
        "mislabelled"
    ]
    assert names(audit(table(throughput=rate(), title="weak scaling", **grown))) == []


def test_times_that_fall_are_no_weak_scaling_and_nothing_else_is_said_of_them():
    assert names(audit(table(seconds=time(), title="weak scaling"))) == ["mislabelled"]
    assert names(audit(table(seconds=[60, 61, 62, 63, 65], title="weak scaling"))) == []


def test_times_that_stay_are_no_strong_scaling_unless_the_work_grew():
    flat = [60, 61, 60, 62, 63]
    assert names(audit(table(seconds=flat))) == ["mislabelled"]
    assert names(audit(table(seconds=flat, work=[100 * k for k in K]))) == []


def test_two_studies_in_one_table_are_mixed():
    kinds = ["strong"] * 3 + ["weak"] * 2
    assert "mixed" in names(audit(table(seconds=time(), scaling=kinds)))
    both = table(
        seconds=[60, 31, 16, 62, 64], workers=[1, 2, 4, 2, 4], work=[100, 100, 100, 200, 400]
    )
    assert "mixed" in names(audit(both))


def test_a_batch_that_is_fixed_neither_in_total_nor_per_worker_is_found_with_its_rows():
    found = audit(table(throughput=rate(), batch=[384, 128, 256, 512, 1024]))
    assert the("batch", found).rows == (2,)
    for fixed in ([384] * 5, [64 * k for k in K], [int(64.3 * k) for k in K]):
        assert names(audit(table(throughput=rate(), batch=fixed))) == []


def test_a_batch_that_grows_in_a_strong_study_of_times_is_found():
    assert names(audit(table(seconds=time(), title="strong", batch=[64 * k for k in K]))) == [
        "batch"
    ]


def test_quality_may_drift_as_much_as_seeds_do_and_no_more():
    bleu = audit(table(seconds=time(), quality=[24.42, 24.07, 24.82, 24.3, 24.5]))
    assert names(bleu) == []
    lost = audit(table(seconds=time(), quality=[0.76, 0.76, 0.755, 0.76, 0.72]))
    assert the("quality", lost).rows == (6,)


def test_a_price_that_does_not_follow_the_workers_is_found():
    assert names(audit(table(seconds=time(), rate=[2.5 * k for k in K]))) == []
    one = the("cost", audit(table(seconds=time(), rate=[2.5] * 5)))
    assert "price of one worker" in one.text
    off = the("cost", audit(table(seconds=time(), rate=[2.5, 5, 10, 20, 25])))
    assert off.rows == (6,)


def test_rows_of_two_machines_are_found():
    found = the("machines", audit(table(seconds=time(), machine=["a", "a", "b", "b", "b"])))
    assert "2 machines: a, b" in found.text


def test_throughput_per_worker_is_told_by_its_header_or_by_its_shape():
    per = [r / k for r, k in zip(rate(), K, strict=True)]
    said = audit(table(throughput=per, each=True))
    assert [(f.name, f.severity) for f in said if f.severity != "note"] == [
        ("per_worker", "warning")
    ]
    assert names(audit(table(throughput=per))) == ["per_worker"]
    assert names(audit(table(throughput=rate(serial=0.5)))) == []


@pytest.mark.parametrize("factor", [60, 1000, 3600, 1e6])
@pytest.mark.parametrize("start", [1, 3, 4])
def test_a_column_in_two_units_is_found_wherever_it_changes(factor, start):
    values = [t / (factor if i >= start else 1) for i, t in enumerate(time())]
    assert names(audit(table(seconds=values))) == ["units"]
    values = [t * (factor if i >= start else 1) for i, t in enumerate(time())]
    assert names(audit(table(seconds=values))) == ["units"]


def test_gigabytes_beside_gibibytes_and_percent_beside_shares_are_found(tmp_path):
    file = tmp_path / "runs.csv"
    file.write_text("workers,throughput\n1,10 GB/s\n2,18 GiB/s\n4,36 GB/s\n8,70 GB/s\n")
    assert names(audit(read(file))) == ["units"]
    file.write_text("workers,seconds,quality\n1,60,76%\n2,31,0.76\n4,16,0.76\n8,8.5,0.76\n")
    assert names(audit(read(file))) == ["units"]
    file.write_text("workers,throughput\n1,10 GB/s\n2,18 GB/s\n4,36 GB/s\n8,70 GB/s\n")
    assert names(audit(read(file))) == []


@pytest.mark.parametrize("at", [1, 2, 3])
@pytest.mark.parametrize("off", [0.75, 1.35])
def test_one_odd_row_is_the_outlier_and_the_only_finding(at, off):
    values = rate(serial=0.005)
    values[at] *= off
    found = audit(table(throughput=values))
    assert names(found) == ["outlier"]
    assert the("outlier", found).rows == (at + 2,)


def test_one_odd_replicate_is_an_outlier():
    workers, values = [k for k in K for _ in range(3)], [t for t in time() for _ in range(3)]
    values = [t * (1 + 0.001 * i) for i, t in enumerate(values)]
    values[7] *= 2
    assert the("outlier", audit(table(seconds=values, workers=workers))).rows == (9,)


@every("noise, seed", itertools.product([0.001, 0.01, 0.05, 0.2], range(20)))
def test_runs_are_odd_by_how_far_runs_of_this_table_usually_lie(noise, seed):
    """Noise alone is left alone, however large; a run far outside of it is found, however small."""
    luck = random.Random(seed)
    workers = [k for k in K for _ in range(5)]
    runs = [100 / k * math.exp(luck.gauss(0, noise)) for k in workers]

    def odd():
        timed = table(seconds=runs, workers=workers)
        return shape.replicates(timed, sizes.sizes(timed))

    assert odd() is None
    at = 11  # one of those on four workers
    runs[at] = 100 / 4 * math.exp(max(12 * noise, 0.06))
    assert odd().rows == (at + 2,)


def test_a_starved_baseline_is_told_from_a_superlinear_effect():
    """600 s and 60 s, where 400 s would have been honest; and a cache that fits from 8 workers on."""
    starved = [600, *[400 * t / time()[0] for t in time()[1:]]]
    assert names(audit(table(seconds=starved))) == ["slow_baseline"]
    cached = [t / (1.2 if k >= 8 else 1) for k, t in zip(K, time(serial=0.001), strict=True)]
    assert names(audit(table(seconds=cached))) in (["superlinear"], ["outlier", "superlinear"])
    four = audit(table(seconds=[100, 45], workers=[1, 2]))
    assert "superlinear" in names(four)


def test_a_baseline_that_is_too_good_is_found():
    values = [r * (1.2 if i == 0 else 1) for i, r in enumerate(rate(serial=0.001))]
    assert names(audit(table(throughput=values))) == ["fast_baseline"]


def test_a_curve_that_falls_all_along_has_no_fast_baseline():
    """Each step from 16 threads on loses as much as the first: POWER9, as published, 5.13 to 0.511 s."""
    found = audit(of_series(datasets.load("oceananigans_threads_power9")))
    assert "fast_baseline" not in names(found)
    assert "fast_baseline" in names(audit(table(throughput=[100, 120, 235, 460, 900])))


def test_replicates_of_a_public_series_are_numbered():
    """Two runs printed with equal digits are two runs."""
    found = of_series(datasets.load("sourcextractor_euclid_issue477"))
    assert [row.run for row in found.rows if row.workers == 16] == ["1", "2"]
    assert {row.run for row in of_series(datasets.load("blastn_threads_gist_accopeland")).rows} == {
        ""
    }


def test_a_rate_per_worker_is_audited_as_that_of_all():
    found = of_series(datasets.load("pytorch_ddp_weak_bert_issue17159"))
    assert found.values == (122, 230, 444, 880, 1280)
    assert not found.units
    assert "per_worker" not in names(audit(found))


def test_a_cap_is_a_corner_and_a_ceiling_is_not():
    workers = (1, 2, 4, 8, 16, 32, 64)
    capped = audit(table(throughput=[100 * min(k, 8) for k in workers], workers=workers))
    assert names(capped) == ["hard_cap"]
    assert the("hard_cap", capped).rows == (5, 6, 7, 8)
    smooth = [laws.amdahl(k, 0.05) for k in workers]
    assert names(audit(table(throughput=smooth, workers=workers))) == []


def test_a_curve_that_turns_back_names_the_size_to_stop_at():
    workers = (1, 4, 16, 64, 128)
    retrograde = [laws.usl(k, 0.02, 0.0008) for k in workers]
    found = audit(table(throughput=retrograde, workers=workers))
    assert names(found) == ["turns_back"]
    best = workers[retrograde.index(max(retrograde))]
    assert f"highest at {best} workers" in the("turns_back", found).text


def test_missing_rows_are_told_with_their_reason(tmp_path):
    file = tmp_path / "runs.csv"
    file.write_text("workers,seconds\n1,60\n2,31\n4,16\n8,8.5\n8,OOM\n8,-\n16,-\n")
    found = the("missing", audit(read(file)))
    assert found.rows == (6, 7, 8)
    assert "3 rows have no seconds (-, OOM)" in found.text
    file.write_text("workers,seconds\n1,60\n2,31\n4,16\n8,8.5\n8,OOM\n")
    assert "Say why" not in the("missing", audit(read(file))).remedy


@pytest.mark.parametrize(
    ("content", "said", "lines"),
    [
        (
            "workers,seconds\n1,60\n4,OOM\n8,failed\n",
            "4 workers failed: OOM; 8 workers failed.",
            (3, 4),
        ),
        ("workers,seconds,failed\n1,,killed\n2,31,\n4,16,0\n", "1 worker failed: killed.", (2,)),
        ("workers,seconds,failed\n1,60,no\n2,31,no\n4,,True\n", "4 workers failed.", (4,)),
        (
            'workers,throughput,failed\n1,6,\n2,9,\n4,,"exit code 3, after 0.0301 s"\n'
            '8,,"exit code 3, after 1.2e+03 s"\n16,,x\n',
            "4 and 8 workers failed: exit code 3; 16 workers failed: x.",
            (4, 5, 6),
        ),
    ],
)
def test_sizes_of_which_no_run_succeeded_are_named_with_the_cause(content, said, lines):
    read = parse("runs", content)
    found = the("failed", audit(read))
    assert (found.text, found.rows, found.severity) == (said, lines, "warning")
    assert "failed" not in read.unread
    assert [line for line, why in read.left_out if why.startswith("no ")] == list(lines)


def test_a_size_with_one_good_run_did_not_fail():
    read = parse("runs", "workers,seconds,failed\n1,60,\n2,31,\n2,,killed\n4,,\n")
    assert read.failed == {}
    assert "failed" not in names(audit(read))
    assert "2 rows have no seconds (killed)" in the("missing", audit(read)).text


LAW = st.one_of(
    st.floats(0, 0.2).map(lambda s: lambda k: laws.amdahl(k, s)),
    st.floats(0.8, 1).map(lambda power: lambda k: k**power),
    st.floats(0, 0.3).map(lambda s: lambda k: laws.gustafson(k, s)),
    st.tuples(st.floats(0, 0.1), st.floats(0, 1e-4)).map(lambda c: lambda k: laws.usl(k, *c)),
)


@given(LAW, st.integers(0, 2**32), st.sampled_from([1, 8]), st.booleans())
def test_a_smooth_law_with_one_percent_noise_raises_no_alarm(law, seed, base, timed):
    """Turning back and a ceiling within two percent are then no false alarms."""
    luck = random.Random(seed)
    values = [law(k) * (1 + luck.uniform(-0.01, 0.01)) for k in (1, 2, 4, 8, 16, 32)]
    columns = {"seconds": [1 / v for v in values]} if timed else {"throughput": values}
    found = names(audit(table(**columns, workers=[base * k for k in (1, 2, 4, 8, 16, 32)])))
    assert found == []


POSITIVE = st.floats(1e-30, 1e30)


@given(
    st.lists(
        st.tuples(st.integers(1, 10**9), POSITIVE, POSITIVE, POSITIVE), min_size=1, max_size=8
    ),
    st.sampled_from(["", "weak", "strong"]),
    st.sampled_from(["seconds", "throughput"]),
    st.randoms(use_true_random=False),
)
def test_any_table_gets_findings_in_words_whatever_its_order(rows, title, measure, luck):
    made = [
        Row(i, k, **{measure: v}, work=w, batch=b, quality=w, rate=b)
        for i, (k, v, w, b) in enumerate(rows, 2)
    ]
    found = audit(ScalingTable("t", tuple(made), measure, title))
    for one in found:
        assert one.severity in SEVERITIES
        assert one.text.endswith(".")
        assert one.remedy.endswith(".")
        assert not {"nan", "inf", "∞"} & set(one.text.replace(",", " ").split())
        assert set(one.rows) <= {row.line for row in made}
    assert found == sorted(found, key=lambda f: SEVERITIES.index(f.severity))
    luck.shuffle(made)
    again = audit(ScalingTable("t", tuple(made), measure, title))
    assert sorted(f.name for f in again) == sorted(f.name for f in found)


@every("series", TABLES, ids=lambda s: s.name)
@every("factor", [1e-3, 60])
def test_findings_do_not_depend_on_the_unit_of_the_whole_column(series, factor):
    made = of_series(series)
    scaled = tuple(
        dataclasses.replace(r, **{made.measure: getattr(r, made.measure) * factor})
        for r in made.rows
    )
    other = dataclasses.replace(made, rows=scaled)
    assert [f.name for f in audit(other)] == [f.name for f in audit(made)]


def test_the_line_between_neighbours_is_straight_for_every_power_law():
    curve = [sizes.Size(k, k**0.7, (), ()) for k in (1, 3, 10, 64)]
    assert [sizes.bend(curve, at) for at in (1, 2)] == pytest.approx([0, 0], abs=1e-12)
    assert shape._dips(curve) == []


def test_public_series_stay_within_the_threshold_that_calls_a_row_odd():
    """Which is how the comment on OUTLIER justifies it: downwards, where four sizes or more are known."""
    worst = {}
    for series in TABLES:
        curve = sizes.sizes(of_series(series), weak=series.scaling == "weak")
        dips = [-sizes.bend(curve, at) for at in range(1, len(curve) - 1)]
        if len(curve) >= shape.FEWEST:
            worst[series.name] = max(dips)
    odd = {name for name, dip in worst.items() if dip > shape.OUTLIER}
    assert {"mpt_a100_40_1b", "nv_bert_tf2_a100_seq512_tf32"} <= odd
    assert (len(worst), len(worst) - len(odd)) == (125, 98)
    assert sum(dip < shape.OUTLIER / 2 for dip in worst.values()) == 79


def test_what_is_no_table_is_refused():
    for junk in (None, [], {"workers": 1}, math.nan):
        with pytest.raises(Refusal, match=r"table must be a ScalingTable, got .+: read it"):
            audit(junk)
