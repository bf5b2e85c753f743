#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What NVIDIA's driver may print of a broken GPU, compared with what the program knows.

driver_formats.py SOURCE [PROGRAM=build/xidscope]: prints each Xid of the open kernel modules' nverror.h that the
catalogue lacks, each recovery action that an Xid 154 would not have by its number, and each message with a word of a
broken GPU that neither the program recognises nor driver_formats.tsv explains. It ends with 1 if there is one. Levels
that a release does not print are left out."""
import concurrent.futures
import pathlib
import re
import subprocess
import sys

# Each call up to its format. Xids' texts are no messages of their own.
PRINTS = re.compile(r"\b(?:NV_PRINTF(?:_EX|_COND)?\s*\([^\"();]*?LEVEL_(?:ERROR|FATAL)(?:\s*,\s*LEVEL_\w+)?"
                    r"|nv_printf\s*\(\s*NV_DBG_ERRORS"
                    r"|NV_DEV_PRINTF(?:_STATUS)?\s*\(\s*NV_DBG_ERRORS\s*,[^\";]*?|UVM_ERR_PRINT_ALWAYS(?:_RL)?\s*\("
                    r"|pr_err\s*\(|dev_err\s*\([^\",]*|printk\s*\(\s*KERN_(?:ERR|CRIT|WARNING))\s*,?")
STRING = re.compile(r'\s*(?:NV_\w+\s*)?"((?:[^"\\]|\\.)*)"')
BROKEN = re.compile(r"fatal|\blost\b|fallen|fell off|needs? .*reset|requires? .*reset|reset .*required|reboot|degraded"
                    r"|unrecover|uncontained|uncorrect|cannot use|unusable|halted|crash|\bdead\b|heartbeat|poison"
                    r"|quarantin|offline|permanent|\bhung\b|\bstuck\b|unresponsive|not recover|to recover|corrupt"
                    r"|isolat|giv(?:e|ing) up|inaccessible|respond|back on|locked!|shut ?down|bad state"
                    r"|failed to (?:boot|initialize (?:device|module))|post init|sanity check failed"
                    r"|on the bus|devices found", re.I)
CODE = re.compile(r"^#define\s+(\w+)\s+\((\d+)\)", re.M)
ACTION = r"NV2080_CTRL_GPU_RECOVERY_ACTION_(\w+)"
VALUES = (("%04x:%02x:%02x.%x", "0000:01:00.0"), ("%04x:%04x", "10de:2330"))


def formats(text):
    """Each call's string, its pieces joined."""
    text = re.sub(r"/\*.*?\*/|//[^\n\"]*$", "", text, flags=re.S | re.M)
    for call in PRINTS.finditer(text):
        rest, pieces = text[call.end():call.end() + 900], []
        while match := STRING.match(rest):
            pieces.append(match[1])
            rest = rest[match.end():]
        if pieces:
            yield "".join(pieces).removesuffix("\\n")


def is_known(program, text):
    """Whether the program finds something in the message, by whichever of the driver's parts it is printed."""
    line = text.replace("\\n", "\n").replace("\\t", "\t")
    for wildcard, value in VALUES:
        line = line.replace(wildcard, value)
    line = re.sub(r"%[-0-9l]*[duxX]", "1", line)
    line = re.sub(r"%[-.0-9]*s", "nvidia-nvswitch1" if line.startswith("%s:") else "word", line)
    lines = (line, f"NVRM: {line}", f"NVRM: GPU 0000:01:00.0: {line}", f"NVRM: GPU0 knvlinkFunction: {line}")
    return not subprocess.run([program, "xid", "-"], input="\n".join(lines), text=True, capture_output=True).returncode


def unknown_actions(source, program):
    """The driver's recovery actions that the program has by another name, or not at all."""
    numbers = dict(re.findall(ACTION + r" = (\d+)", "".join(f.read_text() for f in source.rglob("ctrl2080gpu.h"))))
    names = re.findall(rf'case {ACTION}:\s*return "([^"]+)"', "".join(f.read_text() for f in source.rglob("gpu.c")))
    for action, name in names:
        number = int(numbers[action])
        line = f"NVRM: Xid (PCI:0000:01:00): 154, GPU recovery action changed from 0x9 (?) to 0x{number:x} (?)"
        answer = subprocess.run([program, "xid", line], text=True, capture_output=True).stdout
        if f"by the text: {name}\n" not in answer or "severity  unknown" in answer:
            yield f"gpu.c: recovery action {numbers[action]}, {name}"


def main():
    source = pathlib.Path(sys.argv[1])
    program = sys.argv[2] if len(sys.argv) > 2 else "build/xidscope"
    table = pathlib.Path(__file__).with_name("driver_formats.tsv").read_text().splitlines()[1:]
    explained, messages, new = {line.split("\t")[0] for line in table}, {}, []
    for header in source.rglob("nverror.h"):
        for name, code in CODE.findall(header.read_text().split("// Error Levels")[0]):
            answer = subprocess.run([program, "xid", code], text=True, capture_output=True).stdout
            if "not in the catalog" in answer:
                new.append(f"{header.name}: Xid {code}, {name}")
    new += unknown_actions(source, program)
    for file in sorted(source.rglob("*.[ch]")):
        messages |= {text: file.name for text in formats(file.read_text(errors="replace")) if BROKEN.search(text)}
    if not messages:
        sys.exit(f"{source} is no source tree of the driver")
    asked = sorted(set(messages) - explained)
    with concurrent.futures.ThreadPoolExecutor() as pool:
        known = pool.map(lambda text: is_known(program, text), asked)
        new += [f"{messages[text]}: {text}" for text, is_it in zip(asked, known) if not is_it]
    print("\n".join(new), end="\n" if new else "")
    sys.exit(bool(new))


main()
