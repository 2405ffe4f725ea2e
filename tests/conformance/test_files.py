"""What is wrong with a scenario file is said as `path:line: key: what, nearest valid key`, with exit code 2."""
import json

import jsonschema
import pytest

import document
from document import GOOD


def refusal(bench, text, name="a.yaml"):
    path = bench.write(text, name)
    done, runs = bench.judge(path)
    assert done.returncode == 2 and runs == [] and done.stdout == "", done.stdout + done.stderr
    assert done.stderr.startswith(f"{path}:"), done.stderr
    return done.stderr[len(f"{path}:"):].rstrip("\n")


@pytest.mark.parametrize("old,new,line,key,nearest", [
    ("claim:", "clam:", 1, "clam", "claim"),
    ("expect:", "expct:", 11, "expct", "expect"),
    ("  config:", "  confg:", 5, "confg", "config"),
    ("rows: 3", "row: 3", 7, "row", "rows"),
    ("- publish", "- publsh", 7, "publsh", "publish"),
    ("- drain", "- drian", 8, "drian", "drain"),
    ("within", "witin", 8, "witin", "within"),
    ("connection: 1", "conection: 1", 10, "conection", "connection"),
    ("upgrade: accept", "upgrde: accept", 10, "upgrde", "upgrade"),
    ("upgrade: accept", "nack: {stats: 6, at_frame: 1}", 10, "stats", "status"),
    ("upgrade: accept", "reset: {at_fram: 1}", 10, "at_fram", "at_frame"),
    ("upgrade: accept", "advertise: {capp: 1}", 10, "capp", "cap"),
    ("server:", "server_settings: {profil: doc}\nserver:", 9, "profil", "profile"),
    ("expect:", "faults:\n  - {at: client.send, nthh: 1, do: EPIPE}\nexpect:", 12, "nthh", "nth"),
    ("expect:", "net: {dely: 1ms}\nexpect:", 11, "dely", "delay"),
])
def test_a_misspelt_key_is_named_with_the_nearest(bench, old, new, line, key, nearest):
    told = refusal(bench, GOOD.replace(old, new, 1))
    assert told.endswith(f", nearest valid key '{nearest}'"), told
    assert told.split(": ")[1] == key, told
    assert int(told.split(":")[0]) == line, told


@pytest.mark.parametrize("name,nearest", [
    ("srv.frame", "srv.frames"), ("loop.snt", "loop.sent"), ("srv.conn[1].frame", "srv.conn[].frames"),
    ("client.eror", "client.error")])
def test_an_unknown_counter_is_named_with_the_nearest(bench, name, nearest):
    told = refusal(bench, GOOD.replace("srv.frames:", f"{name}:"))
    assert told == f"12: {name}: no such counter, nearest valid counter '{nearest}'"


@pytest.mark.parametrize("old,new,line,what", [
    ("upgrade: accept", "upgrade: acept", 10, "nearest valid word 'accept'"),
    ("schema: tiny", "schema: tinny", 7, "nearest valid word 'tiny'"),
    ("rows: 3", "rows: three", 7, "rows: expected a whole number"),
    ("within: 5s", "within: 5 seconds", 8, "within: expected a time"),
    ("srv.frames: 3", "srv.frames: many", 12, "srv.frames: 'many' is no comparison"),
    ("cites: [P121-01]\n", "", 1, "cites: missing"),
    ("kills: [some-mutant]\n", "", 1, "kills: missing"),
    ("kills: [some-mutant]", "kills: []", 3, "kills: names none"),
    ("Rows arrive.", "Rows arrive", 1, "a sentence"),
    ("srv.frames: 3", "srv.frames: 3\n  srv.frames: 3", 13, "given twice, first in line 12"),
    ("claim: Rows arrive.", "claim: Rows arrive.\nclaim: Rows arrive.", 2, "given twice, first in line 1"),
    ("srv.frames: 3", "srv.frames: [3", 12, "not YAML"),
    ("srv.frames: 3", "srv.frames: 3\n---\nclaim: Another.", 14, "a second document"),
])
def test_a_wrong_value_is_named(bench, old, new, line, what):
    told = refusal(bench, GOOD.replace(old, new, 1))
    assert what in told, told
    # A mapping that breaks off is noticed where the next thing should be.
    assert int(told.split(":")[0]) in ((line, line + 1) if what == "not YAML" else (line,)), told


@pytest.mark.parametrize("text,what", [
    ("", "the file is empty"), ("# nothing\n", "the file is empty"), ("just a word\n", "expected a mapping"),
    ("- a\n- list\n", "expected a mapping")])
def test_a_file_without_a_scenario_is_refused(bench, text, what):
    assert what in refusal(bench, text)


def test_one_bad_file_keeps_the_others_from_running(bench):
    bench.write(GOOD, "b.yaml")
    bench.write(GOOD.replace("claim:", "clam:"), "c.yaml")
    done, runs = bench.judge(bench.folder)
    assert done.returncode == 2 and runs == [] and "c.yaml:1: clam" in done.stderr


def test_a_folder_without_files_and_a_missing_path_are_refused(bench):
    done, _ = bench.judge(bench.folder)
    assert done.returncode == 2 and "no scenario file (*.yaml) was found" in done.stderr
    done, _ = bench.judge(bench.folder / "nowhere")
    assert done.returncode == 2 and f"{bench.folder}/nowhere: No such file" in done.stderr


def test_what_expects_nothing_is_no_green(bench):
    code, verdict, why = bench.only(GOOD.replace("expect:\n  srv.frames: 3\n", "expect: {}\n"))
    assert (code, verdict) == (1, "failed") and "nothing is expected" in why
    assert "expect: missing" in refusal(bench, GOOD.replace("expect:\n  srv.frames: 3\n", ""))


# ---- the schema, made from the same table of keys ----


@pytest.fixture(scope="module")
def schema(runner):
    done = runner.run("--schema")
    assert done.returncode == 0
    return json.loads(done.stdout)


def test_the_schema_is_one_and_stands_in_the_repository(schema):
    jsonschema.Draft202012Validator.check_schema(schema)
    kept = document.ROOT / "scenarios" / "schema.json"
    assert json.loads(kept.read_text()) == schema, "qwp-scenario --schema > scenarios/schema.json"


def test_every_scenario_is_valid_by_the_schema(schema, scenario_file):
    jsonschema.Draft202012Validator(schema).validate(document.typed(scenario_file.read_text()))


@pytest.mark.parametrize("old,new", [("claim:", "clam:"), ("rows: 3", "row: 3"), ("srv.frames", "srv.frame"),
                                     ("upgrade: accept", "upgrade: acept")])
def test_the_schema_refuses_what_the_runner_refuses(schema, old, new):
    valid = jsonschema.Draft202012Validator(schema).is_valid
    assert valid(document.typed(GOOD)) and not valid(document.typed(GOOD.replace(old, new)))
