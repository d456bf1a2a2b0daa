"use strict";
// filters, sorting, charts and the comparison of two algorithms; nothing is loaded from outside
const make = (name, attributes = {}, ...children) => {
  const svg = ["svg", "path", "line", "circle", "rect", "text", "polygon", "g"].includes(name);
  const node = svg ? document.createElementNS("http://www.w3.org/2000/svg", name) : document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...children);
  return node;
};
const number = (value) => value === null || value === undefined ? "–" : typeof value === "string" ? value
  : Number(value.toPrecision(4)).toLocaleString("en").replace("-", "−");

// the ledger
for (const form of document.querySelectorAll("form.filters:not(#compare)")) {
  const claims = [...document.querySelectorAll(".claim")];
  claims.forEach((claim, place) => { claim.dataset.paper = place; claim.text = claim.textContent.toLowerCase(); });
  const lists = ["environments", "algorithms"];
  const apply = () => {
    const asked = Object.fromEntries(new FormData(form));
    let shown = 0;
    for (const claim of claims) {
      const fits = (!asked.badge || claim.dataset.badge === asked.badge)
        && lists.every((key) => !asked[key] || claim.dataset[key].split("|").includes(asked[key]))
        && claim.text.includes(asked.search.trim().toLowerCase());
      claim.hidden = !fits;
      shown += fits;
    }
    const falling = ["evidence", "seeds"].includes(asked.sort) ? -1 : 1;
    const by = asked.sort === "paper" ? "place" : asked.sort;
    for (const box of document.querySelectorAll(".claims")) {
      const value = (claim) => by === "place" ? claim.dataset.place : Number(claim.dataset[by]);
      const order = (a, b) => by === "place"
        ? value(a).localeCompare(value(b), "en", {numeric: true}) : falling * (value(a) - value(b));
      box.append(...[...box.children].sort((a, b) => order(a, b) || a.dataset.paper - b.dataset.paper));
    }
    form.querySelector("output").textContent = `${shown} of ${claims.length} shown`;
    const kept = Object.entries(asked).filter(([key, value]) => value && !(key === "sort" && value === "order"));
    history.replaceState(null, "", (kept.length ? "?" + new URLSearchParams(kept) : location.pathname) + location.hash);
  };
  for (const [key, value] of new URLSearchParams(location.search)) if (form.elements[key]) form.elements[key].value = value;
  form.addEventListener("input", apply);
  form.addEventListener("submit", (event) => event.preventDefault());
  apply();
  if (location.hash) document.getElementById(location.hash.slice(1))?.scrollIntoView();
}

// tables
for (const table of document.querySelectorAll("table.sortable")) {
  const heads = [...table.tHead.rows[table.tHead.rows.length - 1].cells];
  heads.forEach((head, column) => {
    const button = make("button", {type: "button"}, ...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const rising = head.getAttribute("aria-sort") !== "ascending";
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", rising ? "ascending" : "descending");
      const value = (row) => row.cells[column]?.textContent.trim().replace(/−/g, "-") ?? "";
      const plain = (text) => parseFloat(text.replace(/,/g, ""));
      const order = (a, b) => {
        const [x, y] = [value(a), value(b)], [n, m] = [plain(x), plain(y)];
        if (Number.isNaN(n) !== Number.isNaN(m)) return Number.isNaN(n) ? 1 : -1;  // gaps last
        return (rising ? 1 : -1) * (Number.isNaN(n) ? x.localeCompare(y) : n - m);
      };
      for (const body of table.tBodies) {
        const rows = [...body.rows].filter((row) => !row.classList.contains("section"));
        body.append(...rows.sort(order));
      }
    });
  });
}

// charts
const ticks = (low, high) => {
  const rough = (high - low) / 4 || 1, power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((k) => k * power).find((k) => k >= rough);
  const found = [];
  for (let at = Math.ceil(low / step) * step; at <= high + step * 1e-9; at += step) found.push(Number(at.toPrecision(12)));
  return found;
};
const W = 360, H = 220, L = 52, R = 10, T = 8, B = 26;
function panel(data, one, hidden) {
  const names = Object.keys(one.lines).filter((name) => !hidden.has(name));
  const look = Object.fromEntries(data.series.map((series) => [series.name, series]));
  const curves = data.kind === "curves";
  const height = curves ? H : T + B + 22 * Object.keys(one.lines).length;
  const left = curves ? L : 130;
  const points = names.flatMap((name) => one.lines[name]);
  const svg = make("svg", {viewBox: `0 0 ${W} ${height}`, role: "img", tabindex: 0,
    "aria-label": `${one.title || data.y}: values of ${names.join(", ")}; arrow keys move along the axis`});
  const hover = make("p", {class: "hover"}, curves ? "Point at the chart, or use the arrow keys, for values." : "");
  if (!points.length) return [svg, hover];
  const ends = (values) => { const kept = values.filter((v) => v !== null); return [Math.min(...kept), Math.max(...kept)]; };
  const value = ends(points.flatMap((p) => p.slice(1)));
  // intervals may reach far beyond the means: the means decide, with room
  const means = ends(points.map((p) => p[1]).concat(points.map((p) => p[4])));
  const room = (means[1] - means[0] || Math.abs(means[0]) || 1) * (curves ? 0.35 : 5);
  const span = [Math.max(value[0], means[0] - room), Math.min(value[1], means[1] + room)];
  if (span[0] === span[1]) { span[0] -= 0.5; span[1] += 0.5; }
  // a single point is a level across the panel, wherever it was measured
  const moving = names.map((name) => one.lines[name]).filter((rows) => rows.length > 1);
  const x = ends((moving.length ? moving.flat() : points).map((p) => p[0]));
  const across = curves ? x : span;
  const px = (v) => left + (v - across[0]) / (across[1] - across[0] || 1) * (W - left - R);
  const clamp = (v) => Math.min(Math.max(v, span[0]), span[1]);
  const py = (v) => height - B - (clamp(v) - span[0]) / (span[1] - span[0]) * (height - T - B);
  for (const at of ticks(...across)) {
    svg.append(make("line", {class: "grid", x1: px(at), x2: px(at), y1: T, y2: height - B}),
      make("text", {x: Math.min(px(at), W - 16), y: height - 10, "text-anchor": "middle"}, number(at)));
  }
  if (curves) for (const at of ticks(...span)) {
    svg.append(make("line", {class: "grid", x1: left, x2: W - R, y1: py(at), y2: py(at)}),
      make("text", {x: left - 4, y: py(at) + 3, "text-anchor": "end"}, number(at)));
  }
  Object.keys(one.lines).forEach((name, place) => {
    if (hidden.has(name)) return;
    const {colour, dash} = look[name], rows = one.lines[name];
    if (!curves) {
      const y = T + 22 * place + 11, [, mean, low, high, theirs] = rows[0];
      svg.append(make("text", {x: left - 6, y: y + 4, "text-anchor": "end"}, name.length > 22 ? name.slice(0, 21) + "…" : name));
      if (low !== null && high !== null) svg.append(make("line", {x1: px(clamp(low)), x2: px(clamp(high)), y1: y, y2: y, stroke: colour, "stroke-width": 2}));
      const dot = make("circle", {cx: px(mean), cy: y, r: 4, fill: colour});
      dot.addEventListener("pointerenter", () => { hover.textContent = words(name, rows[0]); });
      svg.append(dot);
      if (theirs !== null) svg.append(make("path", {d: `M${px(clamp(theirs))} ${y - 5} l5 5 l-5 5 l-5 -5 z`, fill: "none", stroke: "#000"}));
      return;
    }
    const band = rows.filter((p) => p[2] !== null && p[3] !== null);
    if (band.length > 1) svg.append(make("polygon", {points: [...band.map((p) => `${px(p[0])},${py(p[3])}`), ...band.reverse().map((p) => `${px(p[0])},${py(p[2])}`)].join(" "), fill: colour, "fill-opacity": names.length > 4 ? 0.06 : 0.13}));
    const along = rows.length === 1 ? [[x[0], rows[0][1]], [x[1], rows[0][1]]] : [...rows].sort((a, b) => a[0] - b[0]);
    svg.append(make("path", {class: "line", d: along.map((p, i) => `${i ? "L" : "M"}${px(p[0]).toFixed(1)} ${py(p[1]).toFixed(1)}`).join(""), fill: "none", stroke: colour, "stroke-width": 1.7, "stroke-dasharray": dash}));
    for (const p of rows) if (p[4] !== null) svg.append(make("path", {d: `M${px(p[0])} ${py(p[4]) - 4} l4 4 l-4 4 l-4 -4 z`, fill: "#fff", stroke: colour}));
  });
  const words = (name, p) => `${name} ${number(p[1])}`
    + (p[2] === null || p[3] === null ? "" : ` (${number(p[2])} to ${number(p[3])})`)
    + (p[4] === null ? "" : `, paper ${number(p[4])}`);
  const cursor = make("line", {class: "cursor", y1: T, y2: height - B, visibility: "hidden"});
  svg.append(cursor);
  const places = [...new Set((moving.length ? moving.flat() : points).map((p) => p[0]))].sort((a, b) => a - b);
  let at = -1;
  const tell = () => {
    const where = places[at];
    cursor.setAttribute("x1", px(where)); cursor.setAttribute("x2", px(where)); cursor.setAttribute("visibility", "visible");
    const near = (rows) => rows.reduce((best, p) => Math.abs(p[0] - where) < Math.abs(best[0] - where) ? p : best);
    hover.textContent = `at ${number(where)}: ` + names.map((name) => words(name, near(one.lines[name]))).join("; ");
  };
  if (curves) {
    svg.addEventListener("pointermove", (event) => {
      const box = svg.getBoundingClientRect(), wanted = (event.clientX - box.left) * W / box.width;
      at = places.reduce((best, v, i) => Math.abs(px(v) - wanted) < Math.abs(px(places[best]) - wanted) ? i : best, 0);
      tell();
    });
    svg.addEventListener("keydown", (event) => {
      const step = {ArrowRight: 1, ArrowLeft: -1}[event.key];
      if (!step) return;
      event.preventDefault();
      at = Math.min(Math.max(at + step, 0), places.length - 1);
      tell();
    });
  } else {
    hover.textContent = `${data.y}: mean and 95% interval${points.some((p) => p[4] !== null) ? "; diamond: the paper's number" : ""}. Point at a dot for values.`;
  }
  return [svg, hover];
}
for (const box of document.querySelectorAll("section.chart")) {
  const data = JSON.parse(box.querySelector("script").textContent);
  const hidden = new Set(), keys = make("div", {class: "keys"}), panels = make("div", {class: "panels"});
  const draw = () => panels.replaceChildren(...data.panels.map((one) =>
    make("div", {}, ...(one.title ? [make("h3", {}, one.title)] : []), ...panel(data, one, hidden))));
  for (const {name, colour, dash} of data.series) {
    const swatch = make("svg", {width: 22, height: 8, viewBox: "0 0 22 8", "aria-hidden": "true", style: "display:inline;width:22px"},
      make("line", {x1: 0, x2: 22, y1: 4, y2: 4, stroke: colour, "stroke-width": 2.5, "stroke-dasharray": dash}));
    const button = make("button", {type: "button", "aria-pressed": "true"}, swatch, ` ${name}`);
    button.addEventListener("click", () => {
      hidden.has(name) ? hidden.delete(name) : hidden.add(name);
      button.setAttribute("aria-pressed", String(!hidden.has(name)));
      draw();
    });
    keys.append(button);
  }
  const theirs = data.panels.some((one) => Object.values(one.lines).some((rows) => rows.some((p) => p[4] !== null)));
  const said = make("p", {class: "soft", style: "color:#555"}, [data.y, "mean, with 95% intervals over seeds", theirs ? "diamonds: the paper's numbers" : "", "switch a series off or on above"].filter(Boolean).join("; ") + ".");
  box.append(keys, panels, said);
  draw();
}

// any two algorithms
const PAIRS = {};  // each family's script fills its own
const compare = document.getElementById("compare");
if (compare) {
  const {family, a, b} = compare.elements, answer = document.getElementById("answer");
  const fill = (select, names, wanted) => {
    const old = wanted ?? select.value;
    select.replaceChildren(...names.map((name) => make("option", {}, name)));
    if (names.includes(old)) select.value = old;
  };
  const sorted = (names) => [...new Set(names)].sort((x, y) => x.localeCompare(y));
  const update = (wanted = {}) => {
    const {texts, rows} = PAIRS[family.value], named = (row) => [texts[row.a], texts[row.b]];
    fill(a, sorted(rows.flatMap(named)), wanted.a);
    const others = rows.filter((row) => named(row).includes(a.value));
    fill(b, sorted(others.flatMap(named).filter((name) => name !== a.value)), wanted.b);
    const found = others.filter((row) => named(row).includes(b.value));
    answer.replaceChildren(...found.map((row, place) => meeting(row, place, texts)));
    history.replaceState(null, "", "?" + new URLSearchParams({family: family.value, a: a.value, b: b.value}));
  };
  const load = (wanted) => {
    if (PAIRS[family.value]) return update(wanted);
    const chosen = family.value, script = make("script", {src: family.selectedOptions[0].dataset.script});
    script.addEventListener("load", () => { if (family.value === chosen) update(wanted); });
    script.addEventListener("error", () => answer.replaceChildren(`${script.src} cannot be loaded.`));
    document.body.append(script);
  };
  const MAIN = 5;  // metrics that are shown at once
  const metrics = (row, texts, turned) => {
    const head = make("tr", {}, ...["metric", a.value, b.value, "difference", "95% interval", "seeds better–worse–tied", "A is"].map((words, i) => make("th", {class: i === 0 || i === 6 ? "words" : ""}, words)));
    const lines = row.metrics.map(([metric, better, first, second, mean, low, high, won, lost, tied, missing, state, back]) => {
      if (turned) [first, second, mean, low, high, won, lost, state] = [second, first, mean === null ? null : -mean, high === null ? null : -high, low === null ? null : -low, lost, won, back];
      const seeds = `${won}–${lost}–${tied}` + (better ? "" : " (higher–lower)") + (missing ? `, ${missing} without a value` : "");
      const cells = [texts[metric], number(first), number(second), number(mean), low === null ? "none" : `${number(low)} to ${number(high)}`, seeds, texts[state]];
      return make("tr", {}, ...cells.map((text, i) => make("td", {class: i === 0 || i === 6 ? "words" : ""}, text)));
    });
    const table = (rows) => make("div", {class: "scroll", tabindex: 0}, make("table", {}, make("thead", {}, head.cloneNode(true)), make("tbody", {}, ...rows)));
    if (lines.length <= MAIN + 1) return [table(lines)];
    return [table(lines.slice(0, MAIN)), make("details", {class: "more"}, make("summary", {}, `${lines.length - MAIN} more metrics`), table(lines.slice(MAIN)))];
  };
  const meeting = (row, place, texts) => {
    const turned = texts[row.a] !== a.value, sign = turned ? -1 : 1, said = row.said[turned ? 1 : 0];
    const inside = [
      make("p", {class: "said"}, said),
      make("p", {class: "soft"}, `${texts[row.title]} (`, make("a", {href: texts[row.page]}, texts[row.paper]), `): ${row.seeds.toLocaleString("en")} seed${row.seeds === 1 ? "" : "s"}, ${texts[row.budget]}.`),
      dots(row.dots.map((v) => v === null ? null : sign * v), row.metrics[0], sign, texts),
      ...metrics(row, texts, turned),
    ];
    if (row.readings.length) inside.push(make("details", {}, make("summary", {}, `${row.readings.length} readings of what the paper leaves open (${texts[row.a]} against ${texts[row.b]})`), make("ul", {}, ...row.readings.map(([words, result, budget]) => make("li", {}, `${texts[words]}: ${result}${texts[budget] && "; " + texts[budget]}`)))));
    return place === 0 ? make("section", {}, ...inside) : make("details", {}, make("summary", {}, `${texts[row.paper]}, ${texts[row.title]}: ${said}`), ...inside);
  };
  const dots = (values, top, sign, texts) => {
    const kept = values.filter((v) => v !== null), [metric, better, , , mean] = top, words = texts[metric];
    const [low, high] = sign === 1 ? [top[5], top[6]] : [top[6], top[5]];
    const ends = [0, ...kept, ...(low === null ? [] : [sign * low, sign * high])];
    const least = Math.min(...ends), most = Math.max(...ends), px = (v) => 20 + (v - least) / (most - least || 1) * 520;
    const svg = make("svg", {viewBox: "0 0 560 72", class: "seeds", style: "width:560px", role: "img", "aria-label": `${words}, difference by seed`});
    const ahead = (better || 1) > 0 ? [px(0), 560] : [0, px(0)];
    if (better) svg.append(make("rect", {class: "claimed", x: ahead[0], y: 0, width: Math.max(ahead[1] - ahead[0], 0), height: 56}));
    svg.append(make("line", {class: "zero", x1: px(0), x2: px(0), y1: 0, y2: 56}));
    [...kept].sort((x, y) => x - y).forEach((v, i) => svg.append(make("circle", {cx: px(v), cy: 10 + 9 * (i % 4), r: 3.5})));
    if (low !== null) svg.append(make("line", {class: "interval", x1: px(sign * low), x2: px(sign * high), y1: 50, y2: 50}));
    svg.append(make("rect", {class: "mean", x: px(sign * mean) - 2, y: 45, width: 4, height: 10}));
    for (const at of ticks(least, most)) svg.append(make("text", {x: px(at), y: 68, "text-anchor": "middle"}, number(at)));
    return make("figure", {}, svg, make("figcaption", {class: "soft"}, `${words}: ${a.value} minus ${b.value}, by seed${better ? `; shaded: ${a.value} is better` : ""}`));
  };
  const asked = new URLSearchParams(location.search);
  if ([...family.options].some((option) => option.value === asked.get("family"))) family.value = asked.get("family");
  load({a: asked.get("a"), b: asked.get("b")});
  compare.addEventListener("input", () => load());
}
