#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Proves that the page's colours have the contrast that WCAG 2.2 asks for, in both schemes: contrast.py PAGE.CSS

Texts 4.5 (1.4.3), parts of charts 3 (1.4.11), each on the backgrounds on which the page has them.
"""
import re
import sys
from pathlib import Path

TEXTS = ("text", "quiet", "accent", "bad", "good", "warn")
PARTS = ("session", "slot", "send", "delay", "resend", "setup", "rtt", "finish")


def luminance(colour):
    channels = [int(colour[i:i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def main():
    css = Path(sys.argv[1]).read_text(encoding="utf-8")
    blocks = re.findall(r":root \{([^}]*)\}", css)
    schemes = [dict(re.findall(r"--([a-z]+): (#[0-9a-f]{6});", block)) for block in blocks]
    if len(schemes) != 2:
        sys.exit(f"{len(schemes)} colour schemes instead of 2")
    least, failed = {}, []
    for scheme, colours in zip(("light", "dark"), schemes):
        for names, wanted in ((TEXTS, 4.5), (PARTS, 3)):
            for name in names:
                for ground in ("page", "card"):
                    got = contrast(colours[name], colours[ground])
                    least[scheme, wanted] = min(got, least.get((scheme, wanted), 99))
                    if got < wanted:
                        failed.append(f"{scheme}: {name} on {ground} has {got:.2f} of {wanted}")
    print("\n".join(failed) or "; ".join(f"{s}: at least {v:.1f} where {w} is needed" for (s, w), v in least.items()))
    return bool(failed)


sys.exit(main())
