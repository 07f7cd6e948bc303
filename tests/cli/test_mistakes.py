"""Every mistake that people make at the command line gets one sentence that helps, in the words they typed.

The sentences are not kept, for better ones may come; the rules for them are.
"""

import re
import shlex
from dataclasses import replace

import pytest

from scalelab import records
from tests.cli.command import scalelab
from tests.cli.test_commands import SAMPLE

MISTAKES = """
zzz
audti x.csv
--nothing
audit
audit nope.csv
audit sub/nope.csv
audit sysbench
audit .
audit bin
audit empty.csv
audit foreign.csv
audit word.csv
audit neg.csv
audit onetwo.csv
audit a.csv b.csv
audit a.csv --stric
audit -
fit
fit a.csv --at sixty
fit a.csv --at 0
fit a.csv --at 1.5
fit a.csv --at -3
fit a.csv --at
fit a.csv --family zzz
fit a.csv --family amdal --at 64
fit a.csv --most 0 --at 64
fit a.csv --most x
fit a.csv --rate -1 --at 64
fit a.csv --plot x.pdf
fit a.csv --plot no/x.svg
fit msgs.json --at 1Kb
fit msgs.json --family usl
series zzz
series sysbench_cpu --kind weak
series --kind stong
series --group nv_jaspr
run
run trainig
run training --workers 0
run training --workers 1-4
run training --workers two
run training --workers 1,,2
run training --set steps
run training --set colour=red --workers 1
run training --repetitions 0 --workers 1
run training --limit 0 --workers 1
run training --limit nan --workers 1
run training --device tpu
run training --append --workers 1
run training --bytes 1KiB
run all-reduce --bytes 1Kb
run all-reduce --bytes 0
run all-reduce --bytes many
run all-reduce --workers 1
run all-reduce --weak
run all-reduce --repetitions 0
run nomod:fn
run os:nofn --workers 1
run training --out no/such/x.json
probe --device cdua
probe --out no/such/x.json
plan
plan nope.toml
plan bad.toml
plan key.toml
plan dev.toml
plan a.csv
plan example --plot x.pdf
rubric
rubric a.csv
rubric nope.csv
rubric q.csv --deadline "10 weeks"
rubric q.csv --deadline -5
rubric q.csv --floor high
rubric q.csv --floor 2
rubric q.csv --tolerance x
rubric q.csv --tolerance -1
rubric q.csv --budget lots
rubric q.csv --joules 5kg
rubric q.csv --co2 5
rubric q.csv --intensity -3 --co2 5
rubric q.csv --prefer speed
rubric q.csv --baseline two
rubric q.csv --baseline 3
rubric q.csv --noise-runs 5
rubric q.csv --price -1
rubric q.csv --work x
rubric q.csv --work 0
rubric q.csv --better bigger
rubric q.csv --throughput x
rubric q.csv --html no/x.html
capstone --workers 0
capstone --workers x
capstone --seeds 0
capstone --seeds x
capstone --batch 1,2,3
capstone --batch 0
capstone --warmup 2
capstone --epochs 0
capstone --tolerance -1
capstone --limit 0
capstone --device tpu
capstone --out no/x.json
machine extra
machine --out no/x.json
grade
grade 01_speedup
grade 01_speedup --workers 0
keys
keys --roster nope.csv
leaks
leaks nope
release --check --exam
release zzz
series --system
rubric xlsx.xlsx
audit locked.xlsx
audit spaces.txt
audit clock.csv
machine --quiet extra
audit two.csv
audit a.csv --sheet runs
rubric sysbench_cpu --sheet a
fit a.csv --sheet
audit summary.csv
audit twice.csv
audit page.html
audit https://example.org/runs.csv
audit timed.csv
--json
plan --example plan.toml
run mine.py --workers 1
capstone --out study.csv
run --command 'true {workers}' --workers 1,1
time true true -n a -n a
""".strip().splitlines()
# What a sentence may begin with, besides what was typed: the words of the usage lines.
OPENINGS = ("--", "FILE ", "JOB ", "NAME ", "ASSIGNMENT ", "STUDENT ", "No such ", "Missing argument ",
            "Got unexpected ", "scalelab ", "Invalid value for ", "Option ", "stdin ",
            "the current folder must")  # fmt: skip
FOREIGN = (
    "Traceback",
    "Refusal",
    "Errno",
    "<class",
    "None",
    "__",
    "NoneType",
    "dict",
    "tuple",
    "  ",
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder of files that are wrong, each in its way, and of two that are right."""
    place = tmp_path_factory.mktemp("mistakes")
    sizes = (1024, 65536, 2**22)
    messages = tuple(
        replace(SAMPLE, given={"workers": 2, "bytes": size}, seconds=(1e-5 + size * 1e-9,))
        for size in sizes
    )
    files = {
        "a.csv": "workers,seconds\n1,60\n2,31\n4,17\n8,10\n",
        "q.csv": "workers,seconds,rate,quality\n1,1000,4,0.9\n2,520,8,0.9\n4,280,16,0.9\n",
        "msgs.json": records.to_json(records.Recording("messages", messages)),
        "bin": bytes(range(256)),
        "empty.csv": "",
        "foreign.csv": "a,b\n1,2\n",
        "word.csv": "workers,seconds\ntwo,5\n",
        "neg.csv": "workers,seconds\n1,-5\n",
        "onetwo.csv": "workers,seconds\n1,two\n",
        "two.csv": "nodes,gpus,seconds\n1,8,2\n",
        "summary.csv": "command,mean,stddev,median,user,system,min,max\nx,1,0,1,1,0,1,1\n",
        "twice.csv": "workers,seconds,seconds\n1,2,3\n",
        "page.html": "<!DOCTYPE html>\n<html><body>workers,seconds</body></html>\n",
        "timed.csv": "sample,run,seconds,label,command\n1,1,0.5,true,true\n",
        "mine.py": "def train(rank): pass\n",
        "clock.csv": "workers,time\n1,1:32\n",
        "spaces.txt": "workers seconds\n1 60\n2 31 min\n",
        "locked.xlsx": b"\xd0\xcf\x11\xe0" + bytes(600),
        "xlsx.xlsx": b"PK\x03\x04" + bytes(600),
        "bad.toml": "[model\n",
        "key.toml": "[modle]\nlayers = 3\n",
        "dev.toml": re.sub(
            r'(?m)^(device|node)( *=) *"[^"]*"',
            r'\1\2 "H10O"',
            scalelab("plan", "--example").stdout,
        ),
    }
    for name, content in files.items():
        (place / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    return place


def test_there_are_mistakes_of_every_command():
    assert len(MISTAKES) > 100


@pytest.mark.parametrize("line", MISTAKES)
def test_a_mistake_gets_one_sentence_in_the_words_that_were_typed(line, folder):
    typed = shlex.split(line)
    done = scalelab(*typed, folder=folder)
    assert (done.returncode, done.stdout) == (2, "")
    (sentence,) = done.stderr.splitlines()
    assert sentence.startswith("scalelab: ")
    sentence = sentence.removeprefix("scalelab: ")
    assert len(sentence) < 330
    begins = re.split(r"[ :]", sentence)[0].strip("'")
    assert sentence.startswith(OPENINGS) or begins in typed or begins.startswith(str(folder))
    assert ": " in sentence, "it says what to do"
    assert not [word for word in FOREIGN if word in sentence]
    own = re.sub(r"'[^']*'|`[^`]*`|\([^()]*\)|[^ ]*/[^ ]*", "", sentence)
    known = ("sysbench_", "nv_", "nbgrader_config", "01_speedup", "mlperf")
    assert not [word for word in re.findall(r"\b\w+_\w+", own) if not word.startswith(known)]


@pytest.mark.parametrize(
    ("line", "remedy"),
    [
        ("audti x.csv", "did you mean 'audit'?"),
        ("audit sysbnch_cpu", "did you mean sysbench_cpu?"),
        ("fit a.csv --family amdal --at 64", "did you mean amdahl?"),
        ("run trainig", "did you mean training?"),
        ("probe --device cdua", "did you mean cuda?"),
        ("plan dev.toml", "did you mean DGX H100?"),
        ("series --kind stong", "did you mean strong?"),
        ("series --group nv_jaspr", "did you mean nv_jasper?"),
        ("plan exampel", "did you mean example?"),
        ("audit sysbench_cpu --jsn", "did you mean --json?"),
        ("fit sysbench_cpu --at", "see scalelab fit --help"),
        ("audit ''", "FILE must be the name of a file, got '': is a variable empty?"),
        ("machine --out .", "got a folder: name another"),
        ("audit A.cvs", "did you mean a.csv?"),
        ("audit 'q.csv '", "did you mean q.csv?"),
        ("audit .", "got the folder '.': name a file in it"),
        ("audit twice.csv", "keep the one to read `seconds`, and call the others something else"),
        ("audit page.html", "save the file itself, and not the page that shows it"),
        (
            "audit https://example.org/runs.csv",
            "got 'https://example.org/runs.csv': fetch it first",
        ),
        ("audit timed.csv", "measure several numbers of workers, by scalelab run --command"),
        ("audit summary.csv", "give it as in hyperfine -L workers 1,2,4,8"),
        ("--json", "write it after a command"),
        ("plan --example plan.toml", "write scalelab plan --example > plan.toml"),
        ("plan", "got none: --example prints one to start from"),
        ("run mine.py --workers 1", "as a program, by --command 'python mine.py {workers}'"),
        ("probe --device gpu", "did you mean cuda?"),
        ("capstone --device GPU", "did you mean cuda?"),
        ("series usl_", "did you mean usl_raytracer or usl_specsdm91?"),
        ("fit a.csv --plot a.csv", "it is the kind of picture"),
    ],
)
def test_a_slip_of_the_finger_is_taken_for_what_was_meant(line, remedy, folder):
    assert scalelab(*shlex.split(line), folder=folder).stderr.rstrip().endswith(remedy)


@pytest.mark.parametrize(
    ("line", "got"),
    [
        ("run training --workers 1 --timeout 2d", "at most 24 h, got '2d': "),
        ("run training --workers 1 --limit '30 h'", "--limit must be a time above 0 and"),
        ("rubric q.csv --floor 150%", "--floor must be in [0, 1], got '150%': "),
        ("rubric q.csv --floor=1.50", "got 1.50: "),
        ("rubric q.csv --price -1", "got -1: "),
        ("rubric q.csv --deadline '-5 min'", "got '-5 min': "),
        ("capstone --warmup 2", "got 2: "),
        ("capstone --warmup 50%", "--warmup must be a number, got '50%': write it like 0.5"),
        ("run --command 'true {workers}' --workers 1,1", "got 1,1: "),
        ("time true true -n a -n a", "-n must differ, got a, a: "),
        ("time true --runs 1e9", "--runs must be a whole number, got '1e9': write it like 8"),
        (r"run --command 'true {workers}' --workers 1 --rate 'a(\d+'", r"got 'a(\d+'"),
        (r"audit 'runs\new.csv'", r"got 'runs\new.csv': "),
        (r"rubric q.csv --baseline '2\'", r"got '2\': "),
    ],
)
def test_what_is_refused_is_quoted_as_it_was_typed(line, got, folder):
    """No 7200.0 for 2 h, and no backslash twice."""
    assert got in scalelab(*shlex.split(line), folder=folder).stderr


def test_no_worker_is_no_gpu_either(folder):
    """Zero workers were once told that the GPU is missing, which nobody had asked for."""
    assert "GPU" not in scalelab("run", "training", "--workers", "0", folder=folder).stderr


@pytest.mark.parametrize("given", ["10m", "1h 30m", "0:10:00", "10 min"])
def test_a_limit_may_be_written_as_a_table_says_it(given, folder):
    done = scalelab("rubric", "q.csv", "--deadline", given, folder=folder)
    assert (done.returncode, done.stderr) == (0, "")
