"""What the header of a scaling table means: the quantity of each column, and its unit."""

import re
import unicodedata
from dataclasses import dataclass

TIMES = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0, "d": 86400.0}
_TIME_WORDS = {
    "ns": "nanosecond nanoseconds nsec",
    "us": "µs μs usec microsecond microseconds",
    "ms": "msec msecs millisecond milliseconds millis",
    "s": "sec secs second seconds sek sekunde sekunden seconde secondes segundo segundos secondo secondi",
    "min": "m mins minute minutes minuten minuto minutos minuti",
    "h": "hr hrs hour hours std stunde stunden heure heures hora horas",
    "d": "day days tage tagen jours dias giorni",
}
ENERGIES = {"J": 1.0, "kJ": 1e3, "MJ": 1e6, "Wh": 3600.0, "kWh": 3.6e6, "MWh": 3.6e9}
# Without accents, as `_key` leaves them. The second and later lines are German, French, Spanish and Italian.
_NAMES = {
    "workers": "worker k p n np gpu cpu tpu gpus cpus tpus process processes procs processors cores threads "
    "ranks nodes devices accelerators world_size nprocs ngpus users processes_total tasks ntasks pes "
    "prozess prozesse prozessen prozessor prozessoren kern kerne knoten rechenknoten arbeiter grafikkarten "
    "nutzer processus processeurs coeurs noeuds procesos procesadores nucleos nodos trabajadores "
    "processi processori nodi",
    "seconds": "time t wall wall_time walltime wall_clock wallclock wall_clock_time elapsed elapsed_time "
    "runtime run_time duration step_time iteration_time iter_time epoch_time time_per_step "
    "time_per_iteration time_per_epoch time_to_train training_time time_avg mean_time median_time "
    "real total_time execution_time exec_time "
    "zeit laufzeit dauer rechenzeit ausfuhrungszeit ausfuehrungszeit gesamtzeit wanduhrzeit schrittzeit "
    "trainingszeit mittlere_zeit temps duree temps_d_execution tiempo duracion durata tempo",
    "throughput": "tput qps rps durchsatz debit",
    "work": "total_work work_units problem_size problem samples total_samples tokens total_tokens images "
    "arbeit problemgrosse problemgroesse travail trabajo",
    "batch": "batch_size global_batch global_batch_size gbs globalbatchsize batchgrosse batchgroesse",
    "quality": "accuracy acc top1 top_1 top1_accuracy val_accuracy val_acc test_accuracy test_acc bleu f1 "
    "auc loss val_loss test_loss perplexity ppl quality_bleu "
    "qualitat qualitaet genauigkeit",
    "rate": "price hourly_cost cost_per_hour price_per_hour usd_per_hour dollars_per_hour usd_h usd_hour "
    "cost_rate hourly_rate preis_pro_stunde kosten_pro_stunde",
    "joules": "joule energy energie energia",
    "run": "replicate rep repeat repetition seed trial run_id lauf durchlauf wiederholung",
    "machine": "machine_name maschine rechner host hostname hardware gpu_type gpu_model node_type "
    "instance instance_type",
    "scaling": "scaling_type study",
    "failed": "",
}
_ROLE = {alias: role for role, names in _NAMES.items() for alias in (role, *names.split())}
_TIME = {word: unit for unit, words in _TIME_WORDS.items() for word in (unit, *words.split())}
_LONGEST = 120  # what is longer is no name of a column, and slow to search
_EACH = re.compile(
    r"[\s_]*(?:/|\bper\b|(?<![a-z])per_)[\s_]*"
    r"(gpu|worker|node|device|process|proc|rank|core|cpu|thread|chip|accelerator|tpu)s?$",
    re.IGNORECASE,
)
_SPEED = re.compile(
    r"(\w[\w .-]*?)[\s_]*(?:/|(?<![a-z])per(?![a-z]))[\s_]*(s|sec|second|min|minute|h|hr|hour)s?",
    re.IGNORECASE,
)
_MONEY = re.compile(r"(?:\$|€|usd|eur|dollars?)[\s_]*(?:/|per)?[\s_]*(?:h|hr|hour)", re.IGNORECASE)


@dataclass(frozen=True)
class Heading:
    """One column: which quantity, in which unit, and whether each worker is meant."""

    text: str
    role: str = ""  # a key of _NAMES, or nothing known
    unit: str = ""  # as written
    factor: float = 1.0  # to SI, where the unit is known
    each: bool = False  # the value is that of one worker
    strange: bool = False  # the quantity is known, and the unit is none of it


def heading(text: str) -> Heading:
    """Read one cell of a header.

    >>> heading("Step time (ms)").role, heading("Step time (ms)").factor
    ('seconds', 0.001)
    >>> heading("tokens/s/GPU").role, heading("tokens/s/GPU").each
    ('throughput', True)
    >>> heading("Laufzeit (min)").factor, heading("Anzahl Kerne").role
    (60.0, 'workers')
    """
    whole = text.strip().strip("*`").strip()
    if len(whole) > _LONGEST:
        return Heading(whole[:_LONGEST])
    match = _EACH.search(whole)
    bare, each = (whole[: match.start()], True) if match else (whole, False)
    inside = re.fullmatch(r"(.*?)[\s_]*[(\[]([^()\[\]]*)[)\]]", bare)
    name, unit = (inside[1], inside[2].strip()) if inside else (bare, "")
    if _EACH.search(unit):
        unit, each = _EACH.sub("", unit), True
    role = _ROLE.get(_key(name), "")
    if not role and not unit and (match := re.fullmatch(r"(throughput|tput)_(\w+)", name, re.I)):
        role, unit = "throughput", match[2]
    if role == "seconds" and unit in ("k", "K", "p", "P", "n", "N"):
        unit = ""  # T(K) is a function, not a unit
    if not role and not unit:
        name, role, unit = _split(name)
    if not role and _MONEY.fullmatch(name.strip()):
        role, unit = "rate", name
    if not role and (speed := _SPEED.fullmatch(name.strip())):
        role, unit = "throughput", speed[0]
    if role not in ("throughput", "batch", "rate"):
        each = False
    factor, strange = _factor(role, unit)
    return Heading(text.strip(), role, unit, factor, each, strange)


def time_unit(text: str) -> str | None:
    """Return the unit of time in SI symbols, or None; `ms/step` is one too.

    >>> time_unit("msec"), time_unit("s per step"), time_unit("images")
    ('ms', 's', None)
    """
    word = re.split(r"\s*/|\s+per\s+|,", text.strip(), maxsplit=1)[0].strip().rstrip(".")
    if word in ("M", "D", "H"):  # mega, or a month? An hour is h.
        return "h" if word == "H" else None
    return _TIME.get(word) or _TIME.get(word.casefold())


def _key(name: str) -> str:
    letters = unicodedata.normalize("NFKD", name.casefold().replace("œ", "oe"))
    bare = "".join(letter for letter in letters if not unicodedata.combining(letter))
    key = re.sub(r"[\W_]+", "_", bare).strip("_")
    prefix = "num|number_of|no_of|nr_of|n|total|anzahl(?:_der)?|nombre_de|numero_de"
    return re.sub(rf"^(?:{prefix})_(?=.)|_count$", "", key)


def _split(name: str) -> tuple[str, str, str]:
    """Take a unit off the end, as in `time_ms` or `wall time in s`; or the name is the unit."""
    if name != "m" and (unit := time_unit(name.replace("_", " "))):
        return name, "seconds", unit
    parts = re.fullmatch(r"(.+?)[\s_.,-]+(?:in[\s_]+)?(\S+?)", name.strip())
    if parts:
        role, unit = _ROLE.get(_key(parts[1]), ""), parts[2]
        known = time_unit(unit) if role == "seconds" else ENERGIES.get(unit)
        if role == "throughput" and _SPEED.fullmatch(unit):
            return parts[1], role, unit
        if role in ("seconds", "joules") and known:
            return parts[1], role, unit
    return name, "", ""


def _factor(role: str, unit: str) -> tuple[float, bool]:
    """Return the factor to SI, and whether the unit belongs to another quantity."""
    if role == "seconds" and unit:
        return TIMES.get(time_unit(unit) or "", 1.0), time_unit(unit) is None
    if role == "joules" and unit:
        return ENERGIES.get(unit, 1.0), unit not in ENERGIES
    return 1.0, False
