"""How long a job will take, as its log says it."""

import pytest

from pfedrl.core import progress
from pfedrl.core.progress import progress_bar, span


@pytest.fixture
def clock(monkeypatch):
    """A clock that stands still until it is set."""
    now = {"seconds": 0.0}
    monkeypatch.setattr(progress.time, "monotonic", lambda: now["seconds"])
    return now


def test_a_line_now_and_then_says_how_long_it_will_take(clock, capsys):
    with progress_bar("windy/qavg", every=10) as told:
        for done in range(1, 11):
            clock["seconds"] = 4.0 * done
            told(done, 100)
    assert capsys.readouterr().err.splitlines() == [
        "windy/qavg: 3 of 100, about 6.5 min to go",
        "windy/qavg: 6 of 100, about 6.3 min to go",
        "windy/qavg: 9 of 100, about 6.1 min to go",
    ]


def test_what_an_earlier_process_did_makes_this_one_no_faster(clock, capsys):
    with progress_bar("windy/qavg", every=10) as told:
        for done in (91, 92, 93):  # it goes on from a checkpoint after 90
            clock["seconds"] += 4.0
            told(done, 100)
    assert capsys.readouterr().err == "windy/qavg: 93 of 100, about 28 s to go\n"


def test_how_long_it_took_to_start_is_not_expected_again(clock, capsys):
    with progress_bar("hopper/ddpg", every=10) as told:
        for seconds in (60.0, 64.0, 70.0):  # a minute to import, to compile and for the first round
            clock["seconds"] = seconds
            told(int(seconds - 60) // 2 + 1, 100)
    assert capsys.readouterr().err.splitlines() == [
        "hopper/ddpg: 1 of 100",
        "hopper/ddpg: 6 of 100, about 3.1 min to go",
    ]


def test_a_run_whose_rounds_grow_longer_is_not_promised_to_end_soon(clock, capsys):
    """As CartPole's do: rounds of 0.1 s until a tenth of the run, then of 1 s."""
    took = [0.1] * 30 + [1.0] * 270
    with progress_bar("cartpole/dqn", every=10) as told:
        for done, seconds in enumerate(took, 1):
            clock["seconds"] += seconds
            told(done, len(took))
            if done == len(took) // 3:
                break
    last = capsys.readouterr().err.splitlines()[-1]
    said, real = float(last.split()[-4]), sum(took[done:]) / 60
    assert last.endswith("min to go") and real / 1.2 < said < real * 1.2


@pytest.mark.parametrize(
    ("seconds", "said"), [(0, "0 s"), (59, "59 s"), (731, "12.2 min"), (7200, "2.0 h")]
)
def test_spans_read_well(seconds: float, said: str):
    assert span(seconds) == said
