"""Sets of moments as spans, against sets of whole numbers."""

from hypothesis import given, strategies as st

from scalelab import spans

moments = st.tuples(st.integers(0, 20), st.integers(0, 20))
ranges = st.lists(moments, max_size=8)


@given(one=ranges, other=ranges)
def test_spans_are_the_sets_of_moments_that_they_stand_for(one, other):
    def moments_of(union):
        return {moment for start, end in union for moment in range(start, end)}

    a, b = spans.union(one), spans.union(other)
    assert moments_of(a) == moments_of(one)
    assert moments_of(spans.union(one, other)) == moments_of(one) | moments_of(other)
    assert moments_of(spans.difference(a, b)) == moments_of(a) - moments_of(b)
    assert moments_of(spans.intersection(a, b)) == moments_of(a) & moments_of(b)
    assert moments_of(spans.within(a, 3, 17)) == moments_of(a) & set(range(3, 17))
    assert spans.length(a) == len(moments_of(a))
    for found in (a, spans.difference(a, b), spans.intersection(a, b)):
        edges = [edge for span in found for edge in span]
        assert edges == sorted(set(edges)), "in order, and none touches the next"
