"""Every scenario can fail: its faults and script steps must happen, and each of its expectations is compared.

Each test takes a scenario file of the suite, spoils one place of it at a time, and demands a red that names the place.
A file with a matrix is taken as its first, its middle and its last line have it.
"""
import document

NEVER = "1000000"
OPPOSITE = {"<=": ">", ">=": "<", "<": ">=", ">": "<="}


def spoil(path, ways, change):
    """(way, document) for each place of each sample, with the place changed."""
    return [(way, document.changed(sample, lambda new: change(new, way)))
            for sample in document.simulated(path) for way in ways(sample)]


def reds(bench, variants):
    """Runs the documents in the simulated world; gives (way, written path, why) of each."""
    paths = [document.write(variant, bench.folder / f"{n:04}.yaml") for n, (_, variant) in enumerate(variants)]
    done, runs = bench.judge(*paths)
    assert variants and len(runs) == len(variants), done.stdout + done.stderr
    assert done.returncode in (1, 3), done.stdout + done.stderr
    for (way, _), path, run in zip(variants, paths, runs):
        assert run["scenario"] == str(path)[:-5]
        assert run["verdict"] in ("failed", "error"), f"{way} was spoilt, and the scenario is {run['verdict']}"
        yield way, path, run["why"]


def tells(why, path, line, what):
    """What did not happen stands in a sentence of its own: the first as path:line, any more as "line N"."""
    return any(what in part and (f"{path}:{line}: " in part or part.strip().startswith(f"line {line}: "))
               for part in why.split(";"))


def test_a_fault_that_does_not_fire_fails(bench, faulty_file):
    def out_of_reach(new, way):
        rule = document.at(new, way)
        rule.pop("byte", None)
        rule.pop("frame", None)
        rule["nth"] = NEVER

    for way, path, why in reds(bench, spoil(faulty_file, document.faults, out_of_reach)):
        assert tells(why, path, document.line_of(path, *way), "did not fire"), why


def test_a_script_step_that_never_comes_fails(bench, scripted_file):
    def out_of_reach(new, way):
        action = document.at(new, way)
        for trigger in document.TRIGGERS:
            action.pop(trigger, None)
        action["at_frame"] = NEVER

    for way, path, why in reds(bench, spoil(scripted_file, document.actions, out_of_reach)):
        assert tells(why, path, document.line_of(path, *way, value=True), "never came"), why


def test_a_connection_that_never_comes_fails(bench, simulated_file):
    def one_more(new, way):
        new.setdefault("server", []).append({"connection": "99", "upgrade": "accept"})

    def behind_the_last(sample):
        return [("server", len(sample.get("server", [])))]

    for way, path, why in reds(bench, spoil(simulated_file, behind_the_last, one_more)):
        assert tells(why, path, document.line_of(path, *way), "connection 99 never came"), why


def spoilt(name, value):
    """An expectation that does not hold where `value` does: the next number, or the opposite."""
    if isinstance(value, list):
        return value + ["poll_w"]
    if name in ("client.error", "client.close"):
        return "QWP_NAME" if value in ("none", "ok") else "none"
    sign, _, rest = value.partition(" ")
    if sign == "!=" or (sign in OPPOSITE and rest):
        return rest if sign == "!=" else f"{OPPOSITE[sign]} {rest}"
    if ".." in value:
        return f"< {value.split('..')[0]}"
    try:
        return str(int(value, 0) + 1)
    except ValueError:
        return f"not {value}"


def test_each_expectation_is_compared(bench, simulated_file):
    def change(new, way):
        document.at(new, way[:-1])[way[-1]] = spoilt(way[-1], document.at(new, way))

    for way, path, why in reds(bench, spoil(simulated_file, document.expectations, change)):
        # An expectation of the end is told by its own line, one of a step by the step's.
        line = document.line_of(path, *(way[:3] if way[0] == "client" else way))
        assert f"{path}:{line}: " in why and f"{way[-1]}: " in why and "expected " in why, f"{way}: {why}"
