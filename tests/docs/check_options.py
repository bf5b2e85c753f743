#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Proves that for each option of each command a test in tests/cli or tests/vm runs the command with it.

A line of a script runs a command if it calls the program with the command's name, if it calls a helper of agent-lib.sh
that does, or a function of the same script whose body does. A function that hands its arguments to the program needs
the command's name on the line. A call that must be refused (`expect 2 "" "MESSAGE"`) proves nothing of the option."""
import re
import subprocess
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
PROGRAM = TOP / "build/xidscope"
CALL = r'(?:xidscope|program|XIDSCOPE)"?\}? '
LIBRARY = {"run": ["agent_start", "agent_in"], "trace": ["trace_begin"], "check": ["check_faults"]}
FUNCTION = re.compile(r"(?ms)^\t?(\w+)\(\) (?:\{ ([^\n]*?);? \}|\{(.*?)^\t?\})")


def output(*arguments):
    return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, check=True).stdout


def script(path):
    """Its lines as the shell sees them, without comments and refused calls."""
    text = path.read_text(encoding="utf-8").replace("\\\n", "")
    text = re.sub(r'(?m)^\s*#.*$|^.*\bexpect [23] "" "[^"].*$', "", text)
    text = re.sub(r'\bjson "[^"]*"', lambda match: match[0].replace("\n", " "), text)
    return text, [(name, one_line or body) for name, one_line, body in FUNCTION.findall(text)]


def calls(text, functions, command):
    """The lines that run the command."""
    hands_on = ["expect", "try", *(name for name, body in functions if re.search(CALL + r'"\$@"', body))]
    ran = [CALL + command + r"\b", rf"\b(?:{'|'.join(hands_on)})\b.*[ \"]{command}\b"]
    names = [name for name, body in functions if any(re.search(way, body) for way in ran)] + LIBRARY.get(command, [])
    names += [name for name, body in functions if any(re.search(rf"\b{known} ", body) for known in names)]
    ran += [rf'(?:^|[\s(;"]){name}[\s)]' for name in names]
    return [line for line in text.split("\n") if any(re.search(way, line) for way in ran)]


def main():
    scripts = [script(path) for folder in ("cli", "vm") for path in sorted((TOP / "tests" / folder).glob("**/*.sh"))
               if path.name != "completion.sh"]  # which names options and uses none
    commands = re.findall(r"(?m)^  (\w+) ", output("help").partition("Commands:\n")[2].partition("\n\n")[0])
    count, missing = 0, []
    for command in commands:
        lines = [line for text, functions in scripts for line in calls(text, functions, command)]
        for option in re.findall(r"(?m)^  (--[a-z-]+)", output(command, "--help")):
            if option == "--help":
                continue
            count += 1
            if not any(re.search(rf"{option}(?![a-z-])", line) for line in lines):
                missing.append(f"no test in tests/cli or tests/vm runs xidscope {command} {option}")
    print("\n".join(missing) or f"{count} options have a test that runs them")
    return bool(missing)


sys.exit(main())
