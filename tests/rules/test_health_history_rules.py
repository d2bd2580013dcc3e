"""Which displays are sampled when, and how samples become points."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from extensions.history import health_rules
from extensions.history.health_rules import Sample

NOON = datetime(2026, 11, 21, 12, 0, 30, tzinfo=UTC)
MINUTES = timedelta(minutes=1)
moments = st.datetimes(datetime(2020, 1, 1), datetime(2040, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001 - the zone is given beside


def told(minutes: float, cpu: float | None, memory: float | None = None) -> Sample:
    """A display's report `minutes` after noon."""
    return Sample(NOON + minutes * MINUTES, cpu, memory, None, None)


def test_a_tick_a_minute_after_the_last_one_has_one_turn() -> None:
    ((turn, at),) = health_rules.due(NOON - MINUTES, NOON)

    assert (turn, at) == (0, NOON.replace(second=0))


def test_ticks_in_the_same_minute_do_it_once() -> None:
    assert health_rules.due(NOON - timedelta(seconds=20), NOON) == []


@given(moments, st.lists(st.integers(1, 240), min_size=5, max_size=40))
def test_each_turn_is_sampled_once_a_moment_and_never_left_out_for_long(start: datetime, gaps: list[int]) -> None:
    """Ticks up to four minutes apart."""
    last, now = start, start
    seen: list[tuple[int, datetime]] = []
    for seconds in gaps:
        last, now = now, now + timedelta(seconds=seconds)
        seen += health_rules.due(last, now)

    assert len(seen) == len(set(seen))
    assert {(int(at.timestamp() // 60) % 5) for _, at in seen} == {turn for turn, _ in seen}
    minutes = (now.replace(second=0, microsecond=0) - start.replace(second=0, microsecond=0)) // MINUTES
    assert len(seen) == minutes  # each minute has its turn once


@given(moments)
def test_after_a_long_rest_and_at_the_first_tick_each_turn_comes_once(now: datetime) -> None:
    for last in (None, now - timedelta(days=40)):
        turns = health_rules.due(last, now)

        assert sorted(turn for turn, _ in turns) == [0, 1, 2, 3, 4]
        assert all(timedelta(0) <= now - at < health_rules.EVERY for _, at in turns)


@given(moments, st.floats(1, 31 * 86_400), st.lists(st.floats(0, 1, exclude_max=True), max_size=40))
def test_points_are_few_cover_the_time_without_a_hole_and_count_each_sample_once(
    since: datetime, seconds: float, places: list[float]
) -> None:
    length = timedelta(seconds=seconds)
    until = since + length
    samples = [Sample(since + place * length, 50.0, None, None, None) for place in sorted(places)]

    points = health_rules.points(samples, since, until)
    step = health_rules.step_of(since, until)

    assert 1 <= len(points) <= health_rules.POINTS_AT_MOST
    assert step % health_rules.EVERY == timedelta(0)
    assert [point.at for point in points] == [since + number * step for number in range(len(points))]
    assert points[-1].at < until <= points[-1].at + step
    told_points = {(sample.at - since) // step for sample in samples if sample.at < until}
    assert {number for number, point in enumerate(points) if point.cpu_percent == 50.0} == told_points


def test_a_day_is_drawn_sample_by_sample_and_a_week_by_means() -> None:
    day = health_rules.points([told(2, 10.0), told(7, 30.0)], NOON, NOON + timedelta(days=1))
    week = health_rules.points([told(2, 10.0), told(7, 30.0)], NOON, NOON + timedelta(days=7))

    assert (len(day), day[0].cpu_percent, day[1].cpu_percent, day[2].cpu_percent) == (288, 10.0, 30.0, None)
    assert (len(week), week[0].cpu_percent, week[1].cpu_percent) == (288, 20.0, None)


def test_a_mean_is_of_what_was_told_and_silence_is_a_gap_not_a_nought() -> None:
    (point,) = health_rules.points([told(1, None, 40.0), told(2, 8.0, None)], NOON, NOON + 5 * MINUTES)

    assert (point.cpu_percent, point.memory_percent, point.disk_percent) == (8.0, 40.0, None)


def test_what_lies_outside_is_left_out_and_no_time_has_no_points() -> None:
    samples = [told(-1, 99.0), told(0, 1.0), told(5, 99.0)]

    (point,) = health_rules.points(samples, NOON, NOON + 5 * MINUTES)

    assert point.cpu_percent == 1.0
    assert health_rules.points(samples, NOON, NOON) == []


def test_the_summary_has_the_extremes_of_the_samples_and_the_last_one_told() -> None:
    samples = [told(0, 20.0), told(5, 95.5), told(10, 3.0), told(15, None, 50.0)]

    summary = health_rules.summary(samples)
    cpu = summary.cpu_percent

    assert cpu is not None
    assert (cpu.least, cpu.most, cpu.last, cpu.last_at) == (3.0, 95.5, 3.0, NOON + 10 * MINUTES)
    assert summary.disk_percent is None
