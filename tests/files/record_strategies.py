"""Records of every kind, as hypothesis draws them."""

from hypothesis import strategies as st

from scalelab.records import Caution, Gpu, Machine, Pass, Passes, Recording, Sample, Split

text = st.text(max_size=12)
positive = st.floats(1e-9, 1e9)
conditions = st.dictionaries(
    st.text("abcxyz_ü ", min_size=1, max_size=6).filter(lambda name: name == name.strip()),
    st.one_of(
        st.integers(-(10**18), 10**18),
        st.floats(allow_nan=False, allow_infinity=False),
        text,
        st.booleans(),
        st.sampled_from(["12", "true", "null", "NaN", "1e5", '"x"', " 3 ", "[1]", "0x10"]),
    ),
    max_size=4,
)
machines = st.builds(
    Machine,
    name=text.filter(bool),
    cores=st.none() | st.integers(1, 10**6),
    memory=st.none() | st.integers(0, 10**15),
    caches=st.dictionaries(st.sampled_from(["L1d", "L2", "L3", "L4"]), st.integers(1, 10**9)),
    processor=text,
    system=text,
    torch=text,
    gpus=st.lists(
        st.builds(
            Gpu,
            name=text,
            memory=st.none() | st.integers(1, 2**40),
            power_limit=st.none() | st.floats(1, 2000),
        ),
        max_size=2,
    ).map(tuple),
    load=st.none() | st.floats(0, 100),
)
samples = st.builds(
    Sample,
    label=text,
    seconds=st.lists(st.integers(1, 10**6) | positive, min_size=1, max_size=12).map(tuple),
    inner=st.integers(1, 10**9),
    machine=machines,
    date=st.sampled_from(["", "2025-11-20"]),
    stopped=text,
    advice=st.lists(st.builds(Caution, text, text), max_size=3).map(tuple),
    given=conditions,
)
recordings = st.builds(
    Recording, title=text, samples=st.lists(samples, min_size=1, max_size=4).map(tuple), note=text
)


@st.composite
def splits(draw):
    """A Split whose parts add up, as every real one's do."""
    compute, exposed, launch, idle, hidden = draw(
        st.tuples(*[st.floats(0, 100)] * 5).filter(lambda parts: sum(parts[:4]) > 0)
    )
    workers = draw(st.integers(1, 64))
    return Split(
        label=draw(text),
        workers=workers,
        rank=draw(st.integers(0, workers - 1)),
        seconds=compute + exposed + launch + idle,
        compute=compute,
        exposed=exposed,
        launch=launch,
        idle=idle,
        communication=exposed + hidden,
        machine=draw(machines),
        date="2025-11-20",
        waiting=draw(st.none() | st.floats(0, 1).map(lambda share: share * exposed)),
    )


amounts = st.none() | st.floats(0, 1e9)
passes = st.builds(
    Pass,
    workers=st.integers(1, 10**6),
    seconds=positive,
    quality=st.floats(-1e9, 1e9),
    metric=text,
    better=st.sampled_from(["higher", "lower"]),
    configuration=conditions,
    seed=st.integers(0, 2**63),
    data=text,
    code=text,
    machine=machines,
    date=text,
    elapsed=st.floats(1e9, 1e10),
    varied=conditions,
    work=amounts,
    rate=amounts,
    joules=amounts,
    exposed=amounts,
    latency=amounts,
    seal=text,
)
studies = st.builds(Passes, title=text, passes=st.lists(passes, max_size=3).map(tuple), note=text)
