# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
import unicodedata

from judge import judgement, need
from judge.reading import Metrics, events
from judge.truths import has_all_families


HOSTILE = ("caf\u00e9\u6f22"
           r"\x1b]0;x\x07\x1b[31m\x7f\xc2\x9b\x9b\xe2\x80\xae\xe2\x81\xa6\xe2\x80\xa8\xef\xbb\xbf\xc0\x9b\xed\xa0\x80")


@judgement
def servers_stay_apart_and_readable(folder):
    metrics = Metrics(folder / "names.prom")
    servers = metrics.values("rpc_op_calls_total", "server")
    for name in (r'na\"sty\\x\\x0ana\\xffme{}=', HOSTILE.replace("\\", "\\\\"), r"twin\\xff", r"twin\\x5cxff",
                 r"\\x6fther"):
        need(name in servers, name, "is not among", servers)
    need("::1" in servers, "no IPv6 server among", servers)
    if not has_all_families(metrics):
        need("10.99.0.1" in servers, "no server of two namespaces among", servers)
        return "of both namespaces together: source tracepoints cannot separate them"
    for name in ("one", "two"):
        inode = (folder / f"{name}.inode").read_text().strip()
        need(f"10.99.0.1@{inode}" in servers, name, inode, "not among", servers)
        guise = [server for server in servers if server.startswith(f"10.99.0.1@{inode}@")]
        need(len(guise) == (name == "one"), "a name in the guise of an address has", guise)
    for server in servers:
        need(metrics.get("rpc_op_calls_total", server=server, op="FSINFO") > 0,
             server, "has no calls")


@judgement
def names_are_escaped_wherever_they_are_shown(folder):
    """By Unicode's categories: controls, formats, separators of lines and paragraphs, surrogates."""
    names = ("names.prom", "agent.log", "events.json", "report.txt", "trace.txt", "run.txt")
    shown = {name: (folder / name).read_bytes().decode("utf-8") for name in names}
    for name, text in shown.items():
        bad = {f"U+{ord(c):04X}" for c in text.replace("\n", "")
               if unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp", "Cs")}
        need(not bad, name, "has", bad)
    need(HOSTILE in shown["report.txt"], "the report lacks", HOSTILE, shown["report.txt"])
    need("/mnt/" + HOSTILE in shown["run.txt"], "the mount is not quoted:", shown["run.txt"])
    killed = [event for event in events(folder / "events.json") if event.get("name") == "oom_kill"]
    need(killed and all(event["comm"] == HOSTILE[5:].split(r"\xe2")[0] for event in killed), killed)
