"""What pip installs is enough: the wheel alone, far from the repository, and its core without extras."""

import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tomllib
import venv
import zipfile
from pathlib import Path
from types import SimpleNamespace

import pytest

from scalelab import extras
from scalelab.cli import commands
from tests.cli.test_commands import FIRST, place, works
from tests.notebooks import ROOT

pytestmark = pytest.mark.turns(2)

SAMPLES = ROOT / "tests" / "samples"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
DATA = {".json", ".csv", ".html", ".js", ".css", ".mplstyle", ".toml", ".py", ".typed"}
# These run real processes with PyTorch, or read a course; of the rubric there is a report below.
SLOW = {"capstone", "probe", "run", "release", "rubric"}
# Nothing of the repository may be opened, but its environment where that lies in it.
GUARD = """
import os, sys

def guard(event, arguments):
    if event in ("open", "os.listdir", "os.scandir") and arguments and type(arguments[0]) is str:
        path = os.path.abspath(arguments[0])
        if path.startswith({root!r}) and not path.startswith({inside!r}):
            os.write(2, f"{{path}} is of the repository\\n".encode())
            os._exit(99)

sys.addaudithook(guard)
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The wheel, built from a copy: setuptools would leave its folders in the repository."""
    source, out = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("wheel")
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    unwanted = shutil.ignore_patterns("__pycache__", ".ipynb_checkpoints")
    shutil.copytree(ROOT / "scalelab", source / "scalelab", ignore=unwanted)
    build = ("wheel", "--no-deps", "--no-build-isolation", "--no-index", "-w", out, source)
    pip(sys.executable, *build)
    (built,) = out.glob("*.whl")
    return built


def pip(python, *arguments):
    line = [sys.executable, "-m", "pip", "--python", python, "-q", "--disable-pip-version-check"]
    # On a path of the repository pip would find it installed.
    env = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run([*line, *arguments], env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done


def made(folder):
    """Return an environment of its own, with nothing in it: its Python, its packages, its commands."""
    venv.create(folder, symlinks=True)
    (packages,) = folder.glob("lib/python*/site-packages")
    return SimpleNamespace(folder=folder, python=folder / "bin" / "python", packages=packages)


@pytest.fixture(scope="module")
def alone(wheel, tmp_path_factory):
    """The wheel in an environment that borrows the packages it needs, and never the repository's."""
    env = made(tmp_path_factory.mktemp("alone"))
    pip(env.python, "install", "--no-deps", "--no-index", "--no-compile", wheel)
    borrowed = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    # What stands in a .pth of a folder that is named by a .pth is not read: no editable install.
    (env.packages / "borrowed.pth").write_text("\n".join(borrowed) + "\n")
    guard = GUARD.format(root=f"{ROOT}/", inside=f"{ROOT / '.venv'}/")
    (env.packages / "sitecustomize.py").write_text(guard)
    return env


def run(env, folder, *line):
    """Run a command of an environment in a folder, with nothing that tells of the repository."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "VIRTUAL_ENV"))}
    clean["PATH"] = f"{env.folder / 'bin'}:{os.defpath}"
    return subprocess.run(
        [env.folder / "bin" / line[0], *line[1:]],
        capture_output=True, text=True, check=False, cwd=folder, env=clean, timeout=300,
    )  # fmt: skip


# --- The wheel ---


def test_the_wheel_holds_the_package_with_its_data_and_nothing_else(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    tracked = subprocess.run(
        ["git", "-C", ROOT, "ls-files", "-co", "--exclude-standard", "scalelab"],
        capture_output=True, text=True, check=True,
    ).stdout.split()  # fmt: skip
    package = [name for name in names if name.startswith("scalelab/")]
    assert sorted(package) == sorted(name for name in tracked if (ROOT / name).exists())
    assert {Path(name).suffix for name in package} | {".typed"} == DATA
    lab = sorted(path.name for path in (ROOT / "scalelab" / "show" / "lab").iterdir())
    there = "scalelab-0.1.0.data/data/share/jupyter/labextensions/scalelab/"
    rest = [name for name in names if name not in package and ".dist-info/" not in name]
    assert sorted(rest) == [there + name for name in lab]


def test_what_is_installed_imports_without_the_repository(alone, tmp_path):
    code = (
        "import importlib, pkgutil, sys, scalelab, scalelab.cli\n"
        "for one in pkgutil.walk_packages(scalelab.__path__, 'scalelab.'):\n"
        "    if 'nbgrader' not in one.name and not one.name.startswith('scalelab.grading'):\n"
        "        one.name.endswith('__main__') or importlib.import_module(one.name)\n"
        "own = [m.__file__ for n, m in sys.modules.items() if n.partition('.')[0] == 'scalelab']\n"
        "print(len(own), {file for file in own if not file.startswith(sys.prefix)})"
    )
    done = run(alone, tmp_path, "python", "-c", code)
    assert (done.returncode, done.stderr) == (0, "")
    count, elsewhere = done.stdout.split(maxsplit=1)
    assert int(count) > 200
    assert elsewhere.strip() == "set()"
    assert (alone.folder / "share/jupyter/labextensions/scalelab/package.json").is_file()


def test_the_guard_sees_who_opens_a_file_of_the_repository(alone, tmp_path):
    done = run(alone, tmp_path, "python", "-c", f"open({str(ROOT / 'README.md')!r})")
    assert (done.returncode, "is of the repository" in done.stderr) == (99, True)


def test_the_help_of_every_command_works_when_installed(alone, tmp_path):
    code = (
        "import sys; from scalelab.cli import commands\n"
        "for name in commands.commands:\n"
        "    commands.main([name, '--help'], 'scalelab', standalone_mode=False)"
    )
    done = run(alone, tmp_path, "python", "-c", code)
    assert (done.returncode, done.stderr) == (0, "")
    assert re.findall(r"^Usage: scalelab (\S+)", done.stdout, re.M) == [*commands.commands]


@pytest.mark.parametrize(
    "example",
    [
        pytest.param(one, marks=pytest.mark.thorough if one.split()[0] in SLOW else ())
        for one in FIRST
    ],
)
def test_the_first_example_of_every_command_works_when_installed(example, alone, tmp_path):
    place(example, tmp_path)  # a course, where one is needed
    works(example, run(alone, tmp_path, "scalelab", *shlex.split(example)))


def test_files_of_other_tools_and_reports_work_when_installed(alone, tmp_path):
    shutil.copy(SAMPLES / "hyperfine_workers.json", tmp_path)
    done = run(alone, tmp_path, "scalelab", "audit", "hyperfine_workers.json")
    assert (done.returncode, done.stderr) == (0, "")
    line = "rubric nv_gnmt_dgx1_v100_fp16 --price 3 --html report.html"
    done = run(alone, tmp_path, "scalelab", *line.split())
    assert (done.returncode, done.stderr) == (0, "")
    assert "<svg" in (tmp_path / "report.html").read_text()


# --- The core ---

WITHOUT = [
    ("run independent --workers 1", "measure"),
    ("probe --quick", "measure"),
    ("capstone --workers 1 --out study.json", "measure"),
    ("fit sysbench_cpu --at 64 --plot fit.svg", "plot"),
    ("grade 01_speedup", "grade"),
    ("release", "grade"),
]
CORE = [
    "--version", "machine", "audit sysbench_cpu", "audit hyperfine_workers.json --json",
    "audit pyperf_workers.json", "fit sysbench_cpu --at 64", "plan plan.toml",
    "rubric nv_gnmt_dgx1_v100_fp16 --price 3", "rubric study.csv --json",
]  # fmt: skip


@pytest.mark.thorough
def test_the_core_alone_reads_and_judges_and_says_what_it_lacks(wheel, tmp_path):
    """In an environment that pip fills from the registry: with what the core names, and nothing else."""
    env = made(tmp_path / "core")
    line = [sys.executable, "-m", "pip", "--python", env.python, "-q", "install", wheel]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    if done.returncode and not os.environ.get("SCALELAB_REQUIRE_REGISTRY"):
        pytest.skip(f"no registry: {done.stderr[-200:]}")
    assert done.returncode == 0, done.stderr
    named = {path.name for path in env.packages.iterdir() if path.is_dir()}
    assert not named & {package for of in extras.PURPOSES.values() for package in of}
    away = tmp_path / "away"
    away.mkdir()
    for name in ("nbgrader_config.py", "tests/samples/hyperfine_workers.json",
                 "tests/samples/pyperf_workers.json"):  # fmt: skip
        shutil.copy(ROOT / name, away)
    shutil.copytree(ROOT / "solutions" / "01_speedup", away / "solutions" / "01_speedup")
    (away / "study.csv").write_text("workers,seconds,rate,quality\n1,60,1,0.9\n2,32,2,0.9\n")
    (away / "plan.toml").write_text(run(env, away, "scalelab", "plan", "--example").stdout)
    for arguments in CORE:
        done = run(env, away, "scalelab", *arguments.split())
        assert (done.returncode, done.stderr) == (0, ""), arguments
    for arguments, purpose in WITHOUT:
        done = run(env, away, "scalelab", *arguments.split())
        assert done.returncode == 2, (arguments, done.stderr)
        said = rf'scalelab: \w+ must be installed .+: pip install "scalelab\[{purpose}\]"\n'
        assert re.fullmatch(said, done.stderr), arguments


# --- The extras ---


def distribution(requirement):
    return re.match(r"[\w-]+", requirement)[0].replace("-", "_")


def test_every_purpose_installs_what_it_is_asked_for():
    stated = PROJECT["optional-dependencies"]
    assert list(stated) == list(extras.PURPOSES)
    brought = {"markdown_it_py": "markdown_it"}
    for purpose, requirements in stated.items():
        for name in map(distribution, requirements):
            if name != "scalelab":
                assert brought.get(name, name) in extras.PURPOSES[purpose], purpose
    core = {*map(distribution, PROJECT["dependencies"])}
    assert not core & {package for of in extras.PURPOSES.values() for package in of}


def test_no_two_purposes_bring_the_same_package():
    every = [package for of in extras.PURPOSES.values() for package in of]
    assert len({*every}) == len(every)


def test_a_package_that_nobody_names_is_a_bug():
    assert extras.missing(ModuleNotFoundError("no", name="scalelab.nothing")) is None
    assert extras.missing(ModuleNotFoundError("no")) is None
