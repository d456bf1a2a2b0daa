"""The report's style sheet: desktop and phone, light and dark, nothing fetched."""

CSS = """
:root { color-scheme: light dark; --ink: #1d2126; --soft: #5b6470; --line: #d9dde2;
  --page: #ffffff; --card: #f6f7f9; --good: #14663a; --bad: #a3261c; --open: #7a5200;
  --none: #5b6470; --accent: #0b5cad; }
@media (prefers-color-scheme: dark) { :root { --ink: #e7eaee; --soft: #a3acb8; --line: #353b44;
  --page: #14171b; --card: #1d2127; --good: #66cf93; --bad: #ff8f83; --open: #f0bd5a;
  --none: #a3acb8; --accent: #7db8f5; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1.5rem 1.25rem 4rem; max-width: 70rem; color: var(--ink);
  background: var(--page); font: 16px/1.55 system-ui, sans-serif; }
h1 { font-size: 1.7rem; line-height: 1.2; margin: 0 0 .3rem; }
h2 { font-size: 1.35rem; line-height: 1.25; margin: 3rem 0 .2rem; padding-top: 1rem;
  border-top: 2px solid var(--ink); }
h3 { font-size: 1.1rem; margin: 2.2rem 0 .6rem; }
p { margin: .4rem 0; max-width: 46rem; }
a { color: var(--accent); }
.soft { color: var(--soft); font-size: .9rem; }
.verdict { border: 1px solid currentColor; border-radius: 1rem; white-space: nowrap;
  padding: .05rem .65rem; font-size: .85rem; font-weight: 600; display: inline-block; }
.reproduced { color: var(--good); } .contradicted { color: var(--bad); }
.undecided, .leans-for, .leans-against { color: var(--open); }
.not-run, .outside-its-assumptions { color: var(--none); }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: .88rem;
  font-variant-numeric: tabular-nums; border-top: 2px solid var(--ink);
  border-bottom: 2px solid var(--ink); }
th, td { padding: .35rem .6rem; vertical-align: top; text-align: left; }
thead tr:last-child th { border-bottom: 1px solid var(--ink); }
th.group { text-align: center; border-bottom: 1px solid var(--line); }
.numbers th, .numbers td { white-space: nowrap; text-align: right; }
.numbers .words { text-align: left; white-space: normal; }
.numbers tbody th { text-align: left; font-style: italic; font-weight: 500; padding-top: .8rem; }
.claims tbody td { border-top: 1px solid var(--line); }
.claims { table-layout: fixed; overflow-wrap: anywhere; margin: .6rem 0 1.2rem; }
.claims th:first-child { width: 34%; } .claims th:last-child { width: 28%; }
.claims td:last-child { color: var(--soft); font-size: .84rem; }
.claims details { margin: 0; } .group > summary { padding: .15rem 0; }
.found { max-width: 46rem; padding-left: 1.2rem; } .found li { margin: .5rem 0; }
.glance { margin: 1.2rem 0 .4rem; } .glance th { white-space: normal; }
.glance .words { min-width: 22rem; }
figure { margin: 0 0 1rem; }
figure img { display: block; width: 100%; max-width: 54rem; height: auto; background: #fff;
  padding: .6rem; border: 1px solid var(--line); border-radius: .4rem; }
figcaption { margin-top: .5rem; max-width: 46rem; font-size: .92rem; }
code, pre { font: .82rem/1.5 ui-monospace, monospace; }
pre { background: var(--card); border-radius: .4rem; padding: .6rem .8rem; margin: .5rem 0;
  overflow-x: auto; max-height: 24rem; }
details { margin: .4rem 0; } summary { cursor: pointer; color: var(--accent); font-size: .9rem; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .2rem 1rem; font-size: .88rem;
  margin: .5rem 0; }
dt { color: var(--soft); } dd { margin: 0; overflow-wrap: anywhere; }
.note { background: var(--card); border-radius: .4rem; padding: .6rem .9rem; margin: .6rem 0; }
.note dl { margin: .2rem 0 0; }
@media (max-width: 44rem) {
  body { padding: 1rem .9rem 3rem; font-size: 15px; }
  .claims thead { display: none; }
  .claims tr, .claims td { display: block; width: auto; }
  .claims tr { padding: .6rem 0; border-top: 1px solid var(--line); }
  .claims tbody td { border: 0; padding: .15rem 0; }
  dl { grid-template-columns: 1fr; gap: 0; } dd { margin-bottom: .4rem; }
}
"""
