# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
from judge import judgement, need
from judge.reading import read_json


@judgement
def files_and_directories_have_what_was_done(folder):
    known, small = map(int, (folder / "numbers").read_text().split())
    need("no calls by file: --files needs the source btf" in (folder / "none.log").read_text(), "files without btf")
    for version in ("3", "4.2"):
        session = read_json(folder / f"files-{version}.json")
        need("verifier" not in (folder / f"files-{version}.log").read_text(), "the program is refused")
        if session["source"] != "btf":
            return "only source btf counts them"
        files = {(f["op"], f["path"]): f for f in session["files"]}
        folders = {(f["op"], f["path"]): f for f in session["directories"]}
        ops = {o["op"]: o for s in session["servers"] for o in s["ops"]}
        read = "READ_PLUS" if "READ_PLUS" in ops else "READ"
        for i in range(max(1, known - 29), known + 1):
            f = files[read, f"/tree/few/known{i}"]
            need(0 <= f["bytes"] - i * 10000 < 1000 * f["calls"] and f["comm"] == "cat", f)
            need(f["owner"] == "unit:reader.service" and f["mount"] == "/mnt/files", f)
        need(files[read, "/tree/part/both"]["mount"] == "/mnt/files", files)
        part = read_json(folder / f"part-{version}.json")
        names = sorted((f["op"], f["path"]) for f in part["files"] if f["mount"] == "/mnt/part")
        commit = any(o["op"] == "COMMIT" for s in part["servers"] for o in s["ops"])
        wanted = [("COMMIT", "/copied")] * commit + [(read, "/alone")] + [("WRITE", "/copied")] * (version == "3")
        need(names == wanted, names)
        need(len(names) == len(part["files"]) and not part["other_files"]["calls"], part["files"])
        saved = files["WRITE", "/tree/many/deep/saved\\x0a"]
        need(0 <= saved["bytes"] - (40 << 16) < 40000 and saved["owner"] == "unit:writer.service", saved)
        few, many = folders[read, "/tree/few"], folders[read, "/tree/many"]
        need(few["files"] == known and 0 <= few["bytes"] - 5000 * known * (known + 1) < few["calls"] * 1000, few)
        need(many["files"] == many["calls"] == small, many)
        if version == "3":
            need(folders["LOOKUP", "/tree/few"]["calls"] == known, folders)
            need(folders["GETATTR", "/tree/many"]["calls"] >= small, folders)
        else:
            # A delegation that the server gives decides which of both the next OPEN is.
            opens = [sum(folders[op, name]["calls"] for op in ("OPEN", "OPEN_NOATTR") if (op, name) in folders)
                     for name in ("/tree/few", "/tree/many")]
            need(opens == [known, small], opens)
        lost = sum(row["count"] for row in session["lost"] if row["reason"] == "file")
        left = {op: ops[op]["calls"] - sum(f["calls"] for f in session["directories"] if f["op"] == op)
                for op in (read, "WRITE", "COMMIT") if op in ops}
        need(lost == sum(left.values()) and not left[read], left, lost)
        need((lost > 0) == (version == "3" and known + 2 * small > 65536), lost)
        for rows, rest, data in (("files", "other_files", True), ("directories", "other_directories", False)):
            wanted = [o for name, o in ops.items() if not data or name in (read, "WRITE", "COMMIT")]
            for unit in ("calls", "seconds"):
                shown = sum(f[unit] for f in session[rows]) + session[rest][unit]
                need(abs(shown - sum(o[unit] for o in wanted)) < 1e-6, rest, unit, shown)
        need(all(c.get("file") for c in session["slow_calls"] if c["op"] in (read, "LOOKUP", "OPEN")), "no file")
        text, replay = (folder / f"files-{version}.txt").read_text(), (folder / f"files-{version}.replay").read_text()
        need(text.split("\nFiles\n")[1].split("\nNext")[0] == replay.split("\nFiles\n")[1].split("\nNext")[0], "replay")
    return f"{len(files)} and {len(folders)}; a server's copy is {'' if commit else 'not '}committed"
