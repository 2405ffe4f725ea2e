"""Scenario files as documents that a test can change: what the suite must notice is made from the suite itself."""
import copy
import itertools
import pathlib
import re

import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]

GOOD = """\
claim: Rows arrive.
cites: [P121-01]
kills: [some-mutant]
client:
  config: ws::addr=${server};auto_flush_interval=off;
  steps:
    - publish: {rows: 3, schema: tiny, flush: each}
    - drain: {within: 5s}
server:
  - {connection: 1, upgrade: accept}
expect:
  srv.frames: 3
"""


def load(path):
    """Every scalar as text, as the runner's reader takes them (and YAML's `on` stays a word)."""
    return yaml.load(path.read_text(), Loader=yaml.BaseLoader)


class _Typed(yaml.SafeLoader):
    """Numbers are numbers, but true and false are the only truths: YAML 1.1 takes the key `on` for one."""


_Typed.yaml_implicit_resolvers = {
    letter: [(tag, regexp) for tag, regexp in resolvers if tag != "tag:yaml.org,2002:bool" or letter in "tTfF"]
    for letter, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()}


def typed(text):
    """As an editor's validator sees it."""
    return yaml.load(text, Loader=_Typed)


def write(document, path):
    path.write_text(yaml.dump(document, sort_keys=False, allow_unicode=True))
    return path


def line_of(path, *way, value=False):
    """Line of a key (or of its value) of a written file, by keys and indexes."""
    node = yaml.compose(path.read_text(), Loader=yaml.BaseLoader)
    for step in way:
        if isinstance(step, int):
            node = node.value[step]
            mark = node.start_mark
        else:
            mark, node = next((k.start_mark, v) for k, v in node.value if k.value == step)
    return (node.start_mark if value else mark).line + 1


def _cells(values):
    for value in values:
        numbers = re.fullmatch(r"(-?\d+)\.\.(-?\d+)", value)
        yield from map(str, range(int(numbers[1]), int(numbers[2]) + 1)) if numbers else [value]


def _lines(matrix):
    if isinstance(matrix, list):
        return matrix
    columns = [[(name, cell) for cell in _cells(values)] for name, values in matrix.items()]
    return [dict(line) for line in itertools.product(*columns)]


def _fill(node, line):
    if isinstance(node, dict):
        return {key: _fill(value, line) for key, value in node.items()}
    if isinstance(node, list):
        return [_fill(value, line) for value in node]
    return re.sub(r"\$\{(\w+)\}", lambda m: line.get(m[1], m[0]), node)


def samples(path):
    """The file without its matrix: as its first, its middle and its last line have it."""
    document = load(path)
    lines = _lines(document.pop("matrix", [{}]))
    chosen = {0, len(lines) // 2, len(lines) - 1}
    return [_fill(document, lines[i]) for i in sorted(chosen)]


def changed(document, change):
    """A copy with `change` applied to it."""
    new = copy.deepcopy(document)
    change(new)
    return new


def simulated(path):
    """The samples of a file, if it claims the simulated world."""
    return [sample for sample in samples(path) if "sim" in sample.get("worlds", ["sim", "live"])]


def faults(sample):
    """The way to every fault rule."""
    return [("faults", i) for i in range(len(sample.get("faults", [])))]


TRIGGERS = ("at_frame", "at_byte", "at_time", "on")


def actions(sample):
    """The way to every action of the script that has a trigger."""
    return [("server", i, key, n) if isinstance(value, list) else ("server", i, key)
            for i, entry in enumerate(sample.get("server", []))
            for key, value in entry.items()
            for n, action in enumerate(value if isinstance(value, list) else [value])
            if isinstance(action, dict) and any(trigger in action for trigger in TRIGGERS)]


def expectations(sample):
    """The way to every expectation, of the end and of the steps."""
    steps = enumerate(sample["client"].get("steps", []))
    ends = [(section, name) for section in ("expect", "expect_sim") for name in sample.get(section, {})]
    return ends + [
        ("client", "steps", i, "expect", name) for i, step in steps for name in step.get("expect", {})]


def at(document, way):
    for step in way:
        document = document[step]
    return document
