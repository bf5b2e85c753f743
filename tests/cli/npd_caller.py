#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Calls the plugins of a custom plugin monitor as node-problem-detector does, once.

Usage: npd_caller.py MONITOR.json PROGRAM FILE [OPTION...]. Runs each rule, with
PROGRAM in place of its path and FILE as the health file,
and prints the condition: "TYPE STATUS REASON: MESSAGE". The protocol is that of
docs/custom_plugin_monitor.md and pkg/custompluginmonitor/plugin/plugin.go there:
it reads 4 KiB of both outputs until nobody has them open, kills the program at
its time limit, and cuts the trimmed output at so many bytes.
"""

import json
import subprocess
import sys

REQUIRED = {"type", "condition", "reason", "path", "args", "timeout"}
STATUS = {0: "False", 1: "True"}  # any other exit code: Unknown


def seconds(text):
    assert text.endswith("s"), text
    return float(text[:-1])


def main():
    monitor, program, file = sys.argv[1:4]
    with open(monitor, encoding="utf-8") as text:
        config = json.load(text)
    plugin = config["pluginConfig"]
    assert config["plugin"] == "custom" and config["source"]
    conditions = {c["type"]: c for c in config["conditions"]}
    for rule in config["rules"]:
        assert set(rule) == REQUIRED and rule["type"] == "permanent", rule
        # node-problem-detector refuses to start otherwise
        assert seconds(rule["timeout"]) <= seconds(plugin["timeout"])
        args = [*rule["args"], "--health", file]
        done = subprocess.run(
            [program, *args, *sys.argv[4:]],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            timeout=seconds(rule["timeout"]),
            check=False,
        )
        assert len(done.stdout) <= 4096 and len(done.stderr) <= 4096
        raw = done.stdout.strip()
        assert len(raw) <= plugin["max_output_length"], f"{raw!r} is too long"
        output = cut = raw.decode("utf-8")
        assert output and "\n" not in output, output
        status = STATUS.get(done.returncode, "Unknown")
        default = conditions[rule["condition"]]
        healthy = status == "False"
        print(
            rule["condition"],
            status,
            (default["reason"] if healthy else rule["reason"]) + ":",
            default["message"] if healthy else cut,
        )


if __name__ == "__main__":
    main()
