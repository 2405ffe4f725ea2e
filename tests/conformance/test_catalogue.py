"""Claims, mutants and known gaps hang together: what a file names exists, and what the project claims is named."""
import json
import re
import subprocess

import pytest
import yaml

import document
from conftest import scenario_files
from document import ROOT

DATA = ROOT / "tests" / "data"
# Seed items that the scenarios show; what else of the seed is shown, unit tests show.
CLAIMED = [f"P121-{n:02}" for n in (1, 2, 4, 6, 7, 8, 9, 10, 11, 13, 14, 15, 22, 23, 24, 25, 26, 27, 28,
                                       30, 31, 32, 33, 41, 42, 47)]
CLAIMED_CASES = ["CASE-01", "CASE-05", "CASE-06", "CASE-07", "CASE-08", "CASE-31", "CASE-45", "CASE-46", "CASE-47",
                 "CASE-48", "CASE-49", "CASE-50", "CASE-51", "CASE-52", "CASE-54", "CASE-81", "CASE-82", "CASE-83",
                 "CASE-84", "CASE-88", "CASE-96", "CASE-120", "CASE-124", "CASE-125", "CASE-131", "CASE-132"]
WAITS_FOR = {"allocator", "backends", "callback", "decoder", "disk", "long-run", "pool", "proxy", "reader", "server", "twin"}


@pytest.fixture(scope="module")
def known():
    """Ids of requirements, of seed items and of cases."""
    ids = [entry["id"] for entry in yaml.load((DATA / "requirements.yaml").read_text(), Loader=yaml.CSafeLoader)]
    for table in ("seed-items.tsv", "cases.tsv"):
        ids += [line.split("\t")[0] for line in (DATA / table).read_text().splitlines() if not line.startswith("#")]
    found = set(ids)
    assert len(found) == len(ids) > 800
    return found


@pytest.fixture(scope="module")
def scenarios():
    return {path: document.load(path) for path in scenario_files()}


def test_every_cited_rule_exists(known, scenarios):
    unknown = {str(path.relative_to(ROOT)): cited for path, scenario in scenarios.items() for cited in scenario["cites"]
               if cited not in known}
    assert unknown == {}


def test_what_the_project_claims_is_shown_by_a_scenario(known, scenarios):
    cited = {cited for scenario in scenarios.values() for cited in scenario["cites"]}
    assert set(CLAIMED) <= known
    assert [item for item in CLAIMED + CLAIMED_CASES if item not in cited] == []


def test_there_are_scenarios_enough_and_each_claims_something_else(scenarios):
    assert len(scenarios) >= 30
    claims = [scenario["claim"] for scenario in scenarios.values()]
    assert [claim for claim in set(claims) if claims.count(claim) > 1] == []


def test_every_scenario_names_mutants_that_exist(scenarios):
    patches = {path.stem for path in (ROOT / "tests" / "mutants").glob("*.patch")}
    assert len(patches) >= 30
    missing = {str(path.relative_to(ROOT)): kills for path, scenario in scenarios.items() for kills in scenario["kills"]
               if kills not in patches}
    assert missing == {}


# ---- known gaps ----


@pytest.fixture(scope="module")
def gaps():
    return yaml.safe_load((ROOT / "scenarios" / "known-gaps.yaml").read_text())


def test_known_gaps_are_entries_about_things_that_exist(known, gaps):
    for gap in gaps:
        assert list(gap) == ["id", "half", "waits_for", "reason"], gap
        assert gap["id"] in known, gap
        assert gap["waits_for"] in WAITS_FOR, gap
        assert gap["half"].strip() and gap["reason"].strip() and not gap["reason"].endswith("."), gap
    pairs = [(gap["id"], gap["half"]) for gap in gaps]
    assert len(set(pairs)) == len(pairs)


def test_the_gaps_file_explains_what_its_entries_wait_for(gaps):
    head = (ROOT / "scenarios" / "known-gaps.yaml").read_text().split("\n\n")[0]
    assert set(re.findall(r"^# (?:waits_for:)? +([a-z-]+)  +[a-zA-Z]", head, re.M)) == WAITS_FOR
    assert {gap["waits_for"] for gap in gaps} <= WAITS_FOR


def test_a_claimed_item_that_is_missing_altogether_is_no_claim(gaps):
    assert [gap for gap in gaps if gap["half"] == "all of it" and gap["id"] in CLAIMED + CLAIMED_CASES] == []


def test_ci_gaps_prints_every_entry(gaps, tmp_path):
    done = subprocess.run([ROOT / "ci" / "gaps", "--json", tmp_path / "gaps.json"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == f"{len(gaps)} known gaps"
    assert all(f"  {gap['id']} " in done.stdout for gap in gaps)
    assert max(map(len, done.stdout.splitlines())) <= 120
    assert json.loads((tmp_path / "gaps.json").read_text()) == {"gaps": gaps, "count": len(gaps)}


def test_the_readme_tells_how_many_gaps_there_are(gaps):
    assert f"{len(gaps)} known gaps" in (ROOT / "README.md").read_text()


def test_every_path_that_a_readme_names_exists():
    """Links of Markdown, and scenario files in running text."""
    missing = []
    for page in [ROOT / "README.md", *ROOT.glob("[a-z]*/README.md"), *ROOT.glob("[a-z]*/[a-z]*/README.md")]:
        if "build" in page.relative_to(ROOT).parts[0]:
            continue
        text = page.read_text()
        named = [page.parent / link for link in re.findall(r"\]\(([^)#:]+)\)", text)]
        named += [ROOT / path for path in re.findall(r"\bscenarios/[a-z0-9-]+/[a-z0-9-]+\.yaml\b", text)]
        missing += [f"{page.relative_to(ROOT)}: {path.name}" for path in named if not path.exists()]
    assert not missing
