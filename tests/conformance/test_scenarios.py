"""Every scenario, in every world it claims."""


def test_scenario(runner, world, scenario):
    path, _, line = scenario.partition("[")
    args = ["--world", world, "-q", "-j", "1", "--report", "/dev/null"]
    if line:
        args += ["--only", "[" + line]
    if runner.client:
        args += ["--client", runner.client]
    done = runner.run(*args, path + ".yaml")
    assert done.returncode == 0, done.stdout + done.stderr
