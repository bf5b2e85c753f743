# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Runs the judgements of a scenario that had to run; fails those that did not run to their end, or have none."""
import importlib.util

from judge import JUDGEMENTS, Failure, Skip, judgement, need


def outcome(name, function, folder, kernel):
    try:
        note = function(folder)
    except Skip as why:
        return f"skip {kernel}: {name}: {why}"
    except Failure as error:
        return f"FAIL {kernel}: {name}\n    {error}"
    except Exception as error:  # pylint: disable=broad-except # one that breaks must not hide the others
        return f"FAIL {kernel}: {name}\n    {type(error).__name__}: {error}"
    return f"ok {kernel}: {name}" + (f" ({note})" if note else "")


def ended_well(folder):
    """run-scenarios writes "status" when a scenario has ended, and "finished" if its last line was reached."""
    need(folder.exists(), "did not run")
    need((folder / "status").exists(), "began and wrote no status: the guest ended before it")
    status = (folder / "status").read_text().strip()
    need(status == "0", f"failed with status {status}: see {folder}/log")
    need((folder / "finished").exists() or (folder / "skip").exists(),
         f"exited before its last line: see {folder}/log")


def judgements(scripts, name):
    script = next((path for path in scripts.glob("*-*.sh") if path.stem.split("-", 1)[1] == name), None)
    need(script, f"there is no such scenario in {scripts}")
    path = script.with_suffix(".py")
    JUDGEMENTS.clear()
    if path.exists():
        spec = importlib.util.spec_from_file_location(name, path)
        spec.loader.exec_module(importlib.util.module_from_spec(spec))
        need(JUDGEMENTS, f"has no judgement: {path} is empty")
    else:  # the script ends at the first check that fails
        judgement(lambda folder: None).__name__ = f"the checks of {name} hold"
    return list(JUDGEMENTS)


def judge_scenario(scripts, name, folder, kernel):
    """The lines to print of one scenario."""
    try:
        found = judgements(scripts, name)
        ended_well(folder)
    except Exception as error:  # pylint: disable=broad-except # a judgement that cannot be read, too
        yield f"FAIL {kernel}: scenario {name}: {error}"
        return
    for function in found:
        title = function.__name__.replace("_", " ")
        if (folder / "skip").exists():
            yield f"skip {kernel}: {title}: {(folder / 'skip').read_text().strip()}"
        else:
            yield outcome(title, function, folder, kernel)
