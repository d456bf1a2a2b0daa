"""Small pictures as SVG, written with the page: seeds of a comparison, what an algorithm shares."""

import math
from typing import Any

from markupsafe import Markup, escape

from pfedrl.analysis.pages.ledger import short

WIDTH, HEIGHT, EDGE = 260, 46, 8
ROWS = 3  # of dots, so that equal seeds stay apart


def seeds_plot(one: dict[str, Any] | None) -> Markup:
    """Differences by seed with their mean and its interval; what counts for the claim is shaded."""
    if one is None or one["effect"] is None or one["low"] is None or one["high"] is None:
        return Markup("")
    dots = one.get("differences") or []
    numbers = [0.0, one["effect"], one["low"], one["high"], *dots]
    if not all(isinstance(value, int | float) and math.isfinite(value) for value in numbers):
        return Markup("")
    least, most = min(numbers), max(numbers)
    room = 0.05 * (most - least or 1.0)
    least, most = least - room, most + room

    def x(value: float) -> float:
        place = EDGE + (value - least) / (most - least) * (WIDTH - 2 * EDGE)
        return round(min(max(place, 0.0), WIDTH), 1)

    shown = ""
    claimed = one.get("claimed")
    if claimed:
        left, right = (end if isinstance(end, int | float) else None for end in claimed)
        start, stop = (0.0 if left is None else x(left)), (WIDTH if right is None else x(right))
        wide = f"{max(stop - start, 0):.1f}"
        shown += f'<rect class="claimed" x="{start}" y="0" width="{wide}" height="34"/>'
    shown += f'<line class="zero" x1="{x(0)}" x2="{x(0)}" y1="0" y2="34"/>'
    for place, value in enumerate(sorted(dots)):
        shown += f'<circle cx="{x(value)}" cy="{7 + 6 * (place % ROWS)}" r="2.4"/>'
    shown += (
        f'<line class="interval" x1="{x(one["low"])}" x2="{x(one["high"])}" y1="28" y2="28"/>'
        f'<rect class="mean" x="{x(one["effect"]) - 1.5:.1f}" y="23.5" width="3" height="9"/>'
        f'<text x="{x(0)}" y="44" text-anchor="middle">0</text>'
    )
    for value, anchor in ((least + room, "start"), (most - room, "end")):
        if abs(x(value) - x(0)) > 30:
            place = 0 if anchor == "start" else WIDTH
            shown += f'<text x="{place}" y="44" text-anchor="{anchor}">{short(value)}</text>'
    each = f"each of {len(dots)} dots is one seed" if dots else f"{one['seeds']:,} seeds"
    words = f"{one['label']}, {one['metric']}: {each}; bar: mean and 95% interval"
    words += "; shaded: what the sentence claims" * bool(claimed)
    return Markup(
        f'<svg class="seeds" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        f'aria-label="{escape(words)}"><title>{escape(words)}</title>{shown}</svg>'
    )


def exchange_diagram(shared: str, private: str, mixing: str) -> Markup:
    """Three agents, the part that each of them sends, and where it is mixed."""
    words = f"{mixing}. Shared: {shared or 'nothing'}. Private: {private or 'nothing'}."
    words = words[0].upper() + words[1:]
    shown, graph = "", "graph" in mixing or "peers" in mixing
    for place in range(3):
        x = 8 + 160 * place
        for y, part, kind in ((74, shared, "shared"), (102, private, "private")):
            if part:
                shown += f'<rect class="{kind}" x="{x}" y="{y}" width="144" height="24" rx="4"/>'
                shown += (
                    f'<text x="{x + 72}" y="{y + 16}" text-anchor="middle">{escape(part)}</text>'
                )
        shown += f'<text x="{x + 72}" y="142" text-anchor="middle">agent {"12N"[place]}</text>'
        if shared and not graph:
            shown += f'<path class="link" d="M{x + 72} 72 L240 36"/>'
        if shared and graph and place:
            shown += f'<path class="link" d="M{x - 88} 72 q80 -44 160 0"/>'
    if shared:
        shown += (
            '<rect class="server" x="120" y="6" width="240" height="28" rx="6"/>' * (not graph)
            + f'<text x="240" y="24" text-anchor="middle">{escape(mixing)}</text>'
        )
    return Markup(
        f'<svg class="diagram" viewBox="0 0 480 150" role="img" aria-label="{escape(words)}">'
        f"<title>{escape(words)}</title>{shown}</svg>"
    )
