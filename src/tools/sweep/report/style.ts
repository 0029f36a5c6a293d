/** The style of the report: light and dark, for a phone and for paper. */
export const STYLE = `
:root {
  color-scheme: light dark;
  --back: light-dark(#f6f7f9, #14171c); --card: light-dark(#fff, #1c2027); --line: light-dark(#d9dde3, #343b46);
  --text: light-dark(#1b2028, #e6e9ee); --soft: light-dark(#566070, #a3adbb); --link: light-dark(#0b57b7, #86b7ff);
  --good: light-dark(#0f6b3a, #74d6a0); --good-back: light-dark(#e2f4e9, #143524);
  --bad: light-dark(#a51d2a, #ff9aa2); --bad-back: light-dark(#fde8ea, #42191e);
  --open: light-dark(#7a4a00, #f1c27a); --open-back: light-dark(#fdf1dc, #3b2b10);
  font: 15px/1.5 system-ui, sans-serif;
}
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 76rem; padding: 1rem; background: var(--back); color: var(--text); overflow-wrap: anywhere; }
a { color: var(--link); }
code, pre { font: 0.88em/1.45 ui-monospace, monospace; }
pre { white-space: pre-wrap; max-height: 24rem; overflow: auto; }
section, .wide { background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: 0.75rem 1rem; margin: 0 0 1rem; }
h3 { margin: 1rem 0 0.5rem; }
section > h3 { margin-top: 0; }
dl { display: grid; grid-template-columns: 9rem 1fr; gap: 0.2rem 1rem; }
dt, caption, .at, .none { color: var(--soft); }
dd { margin: 0; }
ul { margin: 0; padding-left: 1.2rem; }
.wide table { width: auto; }
.wide { overflow-x: auto; overflow-wrap: normal; padding: 0.25rem 0.75rem; }
table { width: 100%; border-collapse: collapse; }
caption { text-align: left; font-weight: 600; padding: 0.5rem 0 0.2rem; }
th, td { text-align: left; vertical-align: top; padding: 0.25rem 0.6rem 0.25rem 0; border-bottom: 1px solid var(--line); }
.sides { table-layout: fixed; }
.side { display: none; }
.verdict { display: inline-block; padding: 0 0.45rem; border-radius: 4px; font: 600 0.85rem/1.5 system-ui, sans-serif; white-space: nowrap; }
.verdict.none { color: var(--good); background: var(--good-back); }
.verdict.error { color: var(--bad); background: var(--bad-back); }
.verdict.warning { color: var(--open); background: var(--open-back); }
.verdict.information { color: var(--soft); border: 1px solid var(--line); }
.changed { color: var(--bad); }
@media (max-width: 700px) {
  dl, .sides, .sides caption, .sides tbody, .sides tr, .sides td { display: block; }
  .sides thead { display: none; }
  .side { display: inline; margin-right: 0.5rem; color: var(--soft); font-size: 0.85rem; }
  .sides tr { border-bottom: 1px solid var(--line); }
  .sides td { border: 0; }
  .sides td.none { display: none; }
}
@media print {
  :root { color-scheme: light; }
  body { max-width: none; padding: 0; }
  section, tr { break-inside: avoid; }
  section, .wide { border: 0; padding: 0; overflow: visible; }
}
`
