# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
from judge import judgement, need
from judge.reading import LABEL, PREFIX


@judgement
def node_exporter_shows_the_metrics(folder):
    page = (folder / "page.txt").read_text()
    need("\nnode_textfile_scrape_error 0\n" in page, "scrape error:",
         (folder / "exporter.log").read_text()[-500:])
    wanted = 0
    for line in (folder / "exported.prom").read_text().split("\n"):
        if line.startswith(PREFIX) and "_count{" in line:
            wanted += 1
            # Prometheus' writer sorts the labels.
            name, rest = line.split("{", 1)
            labels = sorted(LABEL.findall(rest.rsplit("}", 1)[0]))
            text = name + "{" + ",".join(f'{k}="{v}"' for k, v in labels) + "}"
            need(text + " " in page, text, "is not on the page")
    need(wanted > 10, "the file is nearly empty")
    need('xid="79"' in page, "the fault is not on the page")
