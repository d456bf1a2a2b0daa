"""What a switch changes: the code's choice beside the paper's, on the same seeds."""

from __future__ import annotations

from collections.abc import Iterator

from pfedrl.analysis.drawing import Context
from pfedrl.analysis.options import BaseOptions, Named
from pfedrl.analysis.statistics import standard_error
from pfedrl.analysis.style import label_of
from pfedrl.analysis.tables import Column, Section, Table, estimate
from pfedrl.core.settings import Settings

METRIC = "centre_value"


class Switch(Settings):
    """The code's choice and the other: an experiment and a cell each."""

    words: str
    code: tuple[str, str]
    switched: tuple[str, str]


class Options(BaseOptions):
    """The choices that are compared."""

    switches: list[Switch]

    def named(self) -> Iterator[Named]:
        for number, switch in enumerate(self.switches):
            for experiment, cell in (switch.code, switch.switched):
                yield Named(f"switches.{number}", experiment, cell=cell)


def draw(context: Context) -> Table:
    import pandas as pd

    columns = [Column("Algorithm", words=True), Column("Switch", words=True)]
    columns += [Column(title) for title in ("As the code", "Switched", "Change")]
    rows, data = [], []
    for switch in context.options(Options).switches:
        sides = {}
        for side, (experiment, cell) in (("switched", switch.switched), ("code", switch.code)):
            sides[side] = context.summaries[experiment].final(cell, METRIC)
        sides["change"] = sides["switched"] - sides["code"]
        numbers = {key: (float(v.mean()), float(standard_error(v))) for key, v in sides.items()}
        algorithm = str(context.summaries[experiment].last(cell, METRIC)["algorithm"])
        texts = [estimate(*numbers[key], 0) for key in ("code", "switched", "change")]
        rows.append([label_of(algorithm), switch.words, *texts])
        record: dict[str, object] = {
            "algorithm": algorithm,
            "switch": switch.words,
            "experiment": experiment,
        }
        for key, (mean, error) in numbers.items():
            record |= {f"{key}_mean": mean, f"{key}_se": error}
        data.append(record)
    return Table(columns, [Section("", rows)], pd.DataFrame(data), [])
