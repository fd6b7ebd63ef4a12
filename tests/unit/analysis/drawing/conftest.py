import numpy as np
import pytest

from overtone.analysis.drawing import scene as s

HOSTILE = '<script>alert("1")</script>&$x_1$ %{x}'
LONG = "optimizer/" + "very_long_name_" * 700 + "learning_rate"
CONTROL = "a\nb\x00c\x1b[31m\u202eright-to-left\u2028\ud800"
RTL = "\u0645\u0639\u062f\u0644 \u05e7\u05e6\u05d1"
NAMES = (HOSTILE, LONG, CONTROL, RTL, "", "\u5b66\u4e60\u7387" * 30, "_private")


def scene_of(name=HOSTILE, n=50):
    """Return a scene with every kind of mark, and `name` wherever a text of users may stand."""
    x = np.linspace(0.001, 10, n)
    y = np.where(np.arange(n) % 7 == 3, np.nan, np.sin(x))
    points = s.Points(x, y, "trial", name, None, [f"{name}\n{i}" for i in range(n)])
    shaded = s.Points(x, y + 1, "trial", "", np.linspace(0, 1, n), symbol="diamond")
    first = s.Panel(
        s.Axis(name), s.Axis(name, low=-2),
        (
            s.Band(x, y - 0.3, y + 0.3, "trial", name), points, shaded,
            s.Line(x, y, "best", f"{name} line", is_step=True, hover=name), s.Line(x, y - 1, "cutoff", is_dashed=True),
            s.Line(x, y + 2, shade=0.7), s.Points(x, y, "failed", "failed", symbol="cross"), s.Points(x, y, "paused", symbol="bar"),
            s.Texts(x[:3], np.zeros(3), [name, name, "short"], "start", dx=3, dy=3, room=2.0),
        ),
        name,
    )  # fmt: skip
    at = np.arange(3.0)
    bars = s.Bars(
        at, np.zeros(3), at + 1, "stopped", "bars", [name] * 3, error_low=at + 0.5, error_high=at + 2
    )
    second = s.Panel(
        s.Axis("time", is_time=True), s.Axis("", "category", (name, "b", "c"), is_reversed=True), (bars,)
    )
    cells = s.Cells(
        np.array([1.0, 10.0, 100.0]),
        np.arange(4.0),
        np.array([[0, 0.5], [1, np.nan], [0.2, 0.9]]),
        [name] * 6,
    )
    third = s.Panel(
        s.Axis(name, "log"), s.Axis("y"), (cells, s.Points(np.array([-1.0, 0.0, 5.0]), np.ones(3)))
    )
    upright = s.Bars(
        at, np.zeros(3), at + 1, "running", "upright", is_horizontal=False, error_low=at, error_high=at + 2
    )
    fourth = s.Panel(s.Axis(name, "category", (name, "b", "c")), s.Axis("y"), (upright,), name)
    return s.Scene(name, (first, second, third, fourth), name, 2, s.ColourBar(name, name, name))


@pytest.fixture(
    params=range(len(NAMES)), ids=lambda i: ["html", "long", "control", "rtl", "empty", "wide", "private"][i]
)
def hostile(request):
    return scene_of(NAMES[request.param])


@pytest.fixture
def every_mark():
    return scene_of
