#!/usr/bin/env python3
"""Draws what `bench.py --results FILE` wrote: a chart of each row beside its goal, and the page's table.

usage: bench/chart.py RESULTS.json        writes RESULTS.svg, prints the table (Markdown)

A bar ends at measured / goal: what stays left of the line has met its goal. Both pictures come from the same numbers,
and so does the text behind each bar."""
import html
import json
import pathlib
import sys

LABEL, BAR, NUMBERS, ROW, TOP = 330, 340, 190, 22, 44
MET, MISSED, OLD = "#2f7d4f", "#b3452c", "#9aa0a6"


def number(value):
    return f"{value:.2f}" if value < 10 else f"{value:.1f}"


def bar(y, share, colour, height):
    width = min(share, 1.25) / 1.25 * BAR
    return f'<rect x="{LABEL}" y="{y}" width="{width:.1f}" height="{height}" fill="{colour}"/>'


def svg(results):
    rows = results["rows"]
    height = TOP + ROW * len(rows) + 14
    at_goal = LABEL + BAR / 1.25
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{LABEL + BAR + NUMBERS}" height="{height}" '
           'font-family="sans-serif" font-size="12">',
           f"<title>{html.escape(results['title'])}</title>",
           f'<rect width="100%" height="100%" fill="#ffffff"/>',
           f'<text x="8" y="18" font-size="14">{html.escape(results["title"])}</text>',
           f'<text x="{at_goal:.1f}" y="36" text-anchor="middle" fill="#555555">goal</text>']
    for index, row in enumerate(rows):
        y = TOP + ROW * index
        met = row["value"] <= row["goal"]
        text = f"{number(row['value'])} of {row['goal']:g} {row['unit']}".strip()
        out += [f'<text x="{LABEL - 8}" y="{y + 13}" text-anchor="end">{html.escape(row["what"])}</text>',
                bar(y + 3, row["value"] / row["goal"], MET if met else MISSED, 13),
                f'<text x="{LABEL + BAR + 8}" y="{y + 13}">{html.escape(text)}</text>']
    out += [f'<line x1="{at_goal:.1f}" y1="40" x2="{at_goal:.1f}" y2="{height - 10}" stroke="{OLD}" '
            'stroke-dasharray="4 3"/>', "</svg>"]
    return "\n".join(out) + "\n"


def table(results):
    lines = ["| what | measured | goal | |", "|---|---|---|---|"]
    for row in results["rows"]:
        verdict = "" if row["value"] <= row["goal"] else "missed"
        lines.append(f"| {row['what']} | {number(row['value'])} {row['unit']} | {row['goal']:g} | {verdict} |")
    return "\n".join(lines) + "\n"


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__.split("\n\n")[1])
    source = pathlib.Path(sys.argv[1])
    results = json.loads(source.read_text(encoding="utf-8"))
    source.with_suffix(".svg").write_text(svg(results), encoding="utf-8")
    print(table(results), end="")


if __name__ == "__main__":
    main()
