"""The store of runs. A run is found by what it is: the key of its settings, and its seeds.

Two layers hold run files under the same names, <algorithm>-<family>-<key>/<first>-<last>.parquet:
results/runs has the runs made here, results/published the committed ones, whose values are in
single precision. manifest.json beside the committed files lists each of them with its checksum.
Files may overlap; a reader takes each seed once. Whoever reads a run checks it against what was
asked for: settings, data, seeds, and for a run made here also the code.
"""

import fcntl
import hashlib
import itertools
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import pyarrow as pa

from pfedrl.core.errors import PfedrlError
from pfedrl.core.files import write_text
from pfedrl.core.parquet import Facts, broken, read_facts, read_table
from pfedrl.core.recorder import ALL_AGENTS
from pfedrl.pipeline.cells import Cell
from pfedrl.pipeline.fingerprint import run_code
from pfedrl.pipeline.run_file import COLUMNS, write_small

LOCAL, COMMITTED = Path("results", "runs"), Path("results", "published")
MANIFEST = COMMITTED / "manifest.json"

BLOCK = re.compile(r"\d+-\d+")  # the name of a file: its first seed, and one past its last
RICH = 10  # distinct fractional parts that make a record unmistakable
FEW = 16  # seeds, of which no chance can be told

Layer = Literal["local", "committed"]
FOLDERS: dict[Layer, Path] = {"local": LOCAL, "committed": COMMITTED}
Point = tuple[str, str, int, int]  # metric, axis, agent, at
Values = dict[Point, np.ndarray]  # a value for each seed


class Part(NamedTuple):
    """Seeds to take from a file, which may hold more."""

    layer: Layer
    path: Path
    holds: range
    take: range


class Found(NamedTuple):
    """Where the seeds of a run are, in their order, and which are nowhere."""

    parts: list[Part]
    missing: list[int]


def block_name(seeds: range) -> str:
    return f"{seeds.start}-{seeds.stop}"


def run_path(cell: Cell, block: str) -> Path:
    """Where the pipeline writes a run."""
    return LOCAL / cell.folder / f"{block}.parquet"


@dataclass(frozen=True)
class Store:
    """Both layers below a project's folder."""

    root: Path

    @cached_property
    def manifest(self) -> dict[str, dict[str, Any]]:
        """What is known of each committed folder: settings, data, and its files by block."""
        path = self.root / MANIFEST
        if not path.exists():
            return {}
        try:
            return json.loads(path.read_text(encoding="utf-8"))
        except ValueError as error:
            raise broken(path, error) from None

    def blocks(self, layer: Layer, folder: str) -> list[range]:
        """The seeds of each file of a key, in order; unfinished files are not among them."""
        if layer == "committed":
            names = list(self.manifest.get(folder, {}).get("files", ()))
        else:
            places = (self.root / LOCAL / folder).glob("[0-9]*-*.parquet")
            names = [path.stem for path in places if BLOCK.fullmatch(path.stem)]
        found = [range(*map(int, name.split("-"))) for name in names]
        return sorted(found, key=lambda seeds: (seeds.start, -seeds.stop))

    def checksum(self, path: Path) -> str | None:
        """What the manifest has of a file; None for a run that was made here."""
        if not path.is_relative_to(COMMITTED):
            return None
        return self.entry(path)["sha256"]

    def entry(self, path: Path) -> dict[str, Any]:
        """What the manifest says of a committed file."""
        return self.manifest[path.parent.name]["files"][path.stem]

    def find(self, cell: Cell, seeds: Iterable[int], layers: Sequence[Layer]) -> Found:
        """Which file serves which seeds; an earlier layer goes first."""
        free = set(seeds)
        parts = []
        for layer in layers:
            for holds in self.blocks(layer, cell.folder):
                path = FOLDERS[layer] / cell.folder / f"{block_name(holds)}.parquet"
                for take in spans(free.intersection(holds)):
                    parts.append(Part(layer, path, holds, take))
                free.difference_update(holds)
        return Found(sorted(parts, key=lambda part: part.take.start), sorted(free))

    def plan(self, folder: str, seeds: range, size: int) -> list[range]:
        """The local files that are to hold some seeds: those present, then missing seeds in blocks
        of a size."""
        present = [block for block in self.blocks("local", folder) if block.start < seeds.stop]
        missing = set(seeds).difference(*present)
        cut = [
            range(first, min(first + size, run.stop))
            for run in spans(missing)
            for first in range(run.start, run.stop, size)
        ]
        return sorted([*present, *cut], key=lambda block: block.start)

    def read(self, cell: Cell, parts: Iterable[Part]) -> tuple[Values, list[Facts]]:
        """The values of parts of one run, checked, with the facts of each part's file."""
        blocks, facts, paths = [], [], []
        for part in parts:
            table, found = self._checked(cell, part)
            values = _values(part.path, table, part.holds)
            at = slice(part.take.start - part.holds.start, part.take.stop - part.holds.start)
            blocks.append({point: line[at] for point, line in values.items()})
            facts.append(found)
            paths.append(part.path)
            if blocks[-1].keys() != blocks[0].keys():
                raise broken(part.path, "it was not measured at the same points as other seeds")
        _refuse_copies(blocks, paths)
        joined = {point: np.concatenate([block[point] for block in blocks]) for point in blocks[0]}
        return joined, facts

    def is_current(self, cell: Cell, part: Part) -> bool:
        """Whether a file counts with the code here, as every committed one does."""
        if part.layer == "committed":
            return True
        return read_facts(self.root / part.path).get("code") == run_code(cell)

    def holds(self, cell: Cell, part: Part) -> bool:
        """Whether a file is there, whole, and this run."""
        try:
            self._checked(cell, part)
        except PfedrlError:
            return False
        return True

    def _checked(self, cell: Cell, part: Part) -> tuple[pa.Table, Facts]:
        """The rows of a file that is what was asked for."""
        try:
            content = (self.root / part.path).read_bytes()
        except OSError as error:
            raise broken(part.path, error) from None
        known = self.entry(part.path)["sha256"] if part.layer == "committed" else None
        if known is not None and hashlib.sha256(content).hexdigest() != known:
            raise broken(part.path, "it is not the file that the manifest lists")
        table, facts = read_table(part.path, pa.BufferReader(content))
        asked = {"settings": cell.settings(), "data": cell.data,
                 "seeds": [part.holds.start, part.holds.stop]}  # fmt: skip
        if part.layer == "local":
            asked["code"] = run_code(cell)
        for name, value in asked.items():
            if facts.get(name) != value:
                raise broken(part.path, f"it has other {name} than {cell.experiment}/{cell.name}")
        if tuple(table.column_names) != COLUMNS:
            raise broken(part.path, "columns are missing")
        return table, facts

    def add(self, cell: Cell, part: Part) -> Path | None:
        """Commit a run that was made here; None where its seeds are committed already."""
        if not self.find(cell, part.take, ["committed"]).missing:
            return None
        known = set().union(*self.blocks("committed", cell.folder)) - set(part.holds)
        others = self.find(cell, known, ["committed"]).parts
        self.read(cell, [*others, part._replace(take=part.holds)])  # no copies
        return self.copy(cell, part, self)

    def copy(self, cell: Cell, part: Part, to: "Store") -> Path:
        """Enter a file into the committed layer of a store."""
        table, facts = self._checked(cell, part)
        path = COMMITTED / cell.folder / part.path.name
        write_small(to.root / path, table, facts)
        to.list_file(cell.folder, path, facts)
        return path

    def list_file(self, folder: str, path: Path, facts: Facts) -> None:
        """Enter a committed file into the manifest."""
        kept = ("code", "commit", "processor", "cpu_seconds", "peak_memory_mb")
        content = (self.root / path).read_bytes()
        with self.changed_manifest() as manifest:
            entry = manifest.setdefault(
                folder, {"settings": facts["settings"], "data": facts["data"], "files": {}}
            )
            entry["files"][path.stem] = {
                "sha256": hashlib.sha256(content).hexdigest(),
                "bytes": len(content),
                **{name: facts[name] for name in kept if name in facts},
            }

    @contextmanager
    def changed_manifest(self) -> Iterator[dict[str, dict[str, Any]]]:
        """The manifest to change, read anew and then written, by one process at a time."""
        lock = self.root / COMMITTED / ".manifest.lock"
        lock.parent.mkdir(parents=True, exist_ok=True)
        with lock.open("w") as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            self.__dict__.pop("manifest", None)
            yield self.manifest
            self._write_manifest()

    def _write_manifest(self) -> None:
        """A line for each key and for each file, so that changes can be read."""
        lines = []
        for folder, entry in sorted(self.manifest.items()):
            files = sorted(entry["files"].items(), key=lambda item: int(item[0].split("-")[0]))
            said = ",\n".join(f"    {json.dumps(k)}: {json.dumps(v)}" for k, v in files)
            head = {name: value for name, value in entry.items() if name != "files"}
            lines.append(
                f'  {json.dumps(folder)}: {json.dumps(head)[:-1]}, "files": {{\n{said}\n  }}}}'
            )
        write_text(self.root / MANIFEST, "{\n" + ",\n".join(lines) + "\n}\n")


def spans(seeds: Iterable[int]) -> Iterator[range]:
    """Neighbouring seeds together."""
    ordered = sorted(seeds)
    start = 0
    for place in range(1, len(ordered) + 1):
        if place == len(ordered) or ordered[place] != ordered[place - 1] + 1:
            yield range(ordered[start], ordered[place - 1] + 1)
            start = place


def _values(path: Path, table: pa.Table, seeds: range) -> Values:
    """The rows of a file as a value for each seed at each point, without comparing strings."""
    table = table.unify_dictionaries().combine_chunks()
    column = {name: table[name].combine_chunks() for name in table.column_names}
    axes, metrics = column["axis"].dictionary, column["metric"].dictionary
    ats, at = np.unique(column["at"].to_numpy(), return_inverse=True)
    agent = column["agent"].to_numpy().astype(np.int64) - ALL_AGENTS
    metric = column["metric"].indices.to_numpy().astype(np.int64)
    axis = column["axis"].indices.to_numpy().astype(np.int64)
    shape = (len(metrics), len(axes), int(agent.max(initial=0)) + 1, len(ats))
    code = np.ravel_multi_index((metric, axis, agent, at), shape)
    present, row = np.unique(code, return_inverse=True)
    seed = column["seed"].to_numpy().astype(np.int64) - seeds.start
    if len(seed) and (seed.min() < 0 or seed.max() >= len(seeds)):
        raise broken(path, f"it holds seeds outside {block_name(seeds)}")
    place = row * len(seeds) + seed
    if not np.array_equal(np.bincount(place, minlength=len(present) * len(seeds)),
                          np.ones(len(present) * len(seeds))):  # fmt: skip
        raise broken(path, "a seed is missing or there twice at some point")
    values = np.empty(len(present) * len(seeds))
    values[place] = column["value"].to_numpy()
    points = zip(*np.unravel_index(present, shape), strict=True)
    return {
        (metrics[int(m)].as_py(), axes[int(x)].as_py(), int(a) + ALL_AGENTS, int(ats[t])): line
        for (m, x, a, t), line in zip(points, values.reshape(-1, len(seeds)), strict=True)
    }


def _refuse_copies(blocks: Sequence[Values], paths: Sequence[Path]) -> None:
    """No seed may have the record of another.

    Records of many distinct values may coincide once in a thousand seeds, as small tables do; a
    learner that never leaves the worst return has whole numbers where other seeds differ.
    Records of few values, as a control's, coincide by chance: a file is refused that shares far
    more of them with earlier files than chance gives. A file in which all seeds are equal is of a
    run that draws nothing. Values are compared in single precision, as committed ones are.
    """
    rich: dict[bytes, Path] = {}
    repeated: list[tuple[Path, Path]] = []
    seen: Counter[bytes] = Counter()
    for block, path in zip(blocks, paths, strict=True):
        with np.errstate(over="ignore", invalid="ignore"):  # of trainings that diverged
            lines = np.stack([*block.values()], axis=1).astype(np.float32)
            own = lines[:, (lines != lines[0]).any(axis=0)]  # not bytes sent, say
            many = [
                len(np.unique(line % 1)) >= RICH and (few % 1 > 0).any()
                for line, few in zip(lines, own, strict=True)
            ]
        records = [line.tobytes() for line in lines]
        if len(set(records)) == 1 < len(records):
            continue
        for record in itertools.compress(records, many):
            if record in rich:
                repeated.append((path, rich[record]))
            rich[record] = path
        if _shares_too_many(counted := Counter(records), seen):
            raise broken(path, "it repeats seeds of other files under other numbers")
        seen += counted
    if len(repeated) > len(rich) / 1000:
        # the committed file of the two was checked already
        path, other = sorted(repeated[-1], key=lambda one: one.is_relative_to(COMMITTED))
        raise broken(path, f"it repeats seeds of {other.name} under other numbers")


def _shares_too_many(own: Counter[bytes], seen: Counter[bytes]) -> bool:
    """Whether a file has more records that were seen than chance gives, by a wide margin.

    The chance that a new record was seen is the share of seen ones that are not unique (Good and
    Turing). Of a few seeds nothing can be said.
    """
    fewest = min(own.total(), seen.total())
    if fewest < FEW:
        return False
    chance = 1 - sum(count == 1 for count in seen.values()) / seen.total()
    shared = sum(count for record, count in own.items() if record in seen) / own.total()
    return shared > chance + 0.3 + 1.5 / fewest**0.5
