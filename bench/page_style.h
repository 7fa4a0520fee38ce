// SPDX-License-Identifier: Apache-2.0
//
// The style of the page of page.h: one column of text, wide things in frames of their own that
// scroll, light or dark as the reader's system is. Pictures are gnuplot's; its greys are taken for
// the page's own.
#pragma once

#include <string_view>

namespace kairos::bench {

inline constexpr std::string_view page_style = R"css(
:root {
  color-scheme: light dark;
  --paper: #f7f7f4; --card: #ffffff; --ink: #1c2126; --soft: #5a646e; --line: #dfe2e4;
  --kairos: #0b5fa5; --raw: #7a848e; --omniorb: #d1495b;
  --good: #1b7a43; --good-tint: #1b7a4322; --bad: #b3261e; --bad-tint: #b3261e1c;
  --open: #8a6100; --open-tint: #8a610022;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #14171a; --card: #1c2024; --ink: #e8eaec; --soft: #a0a9b2; --line: #343a40;
    --kairos: #5db0f2; --raw: #8d98a3; --omniorb: #f07f8e;
    --good: #5fd08d; --good-tint: #5fd08d26; --bad: #ff8a80; --bad-tint: #ff8a8026;
    --open: #e6bd5c; --open-tint: #e6bd5c26;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0 auto; padding: 2.5rem 1.25rem 5rem; max-width: 78rem;
  background: var(--paper); color: var(--ink);
  font: 1rem/1.55 system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif;
  font-variant-numeric: tabular-nums; overflow-wrap: anywhere;
}
h1 { font-size: clamp(1.6rem, 4.5vw, 2.4rem); line-height: 1.15; margin: .2rem 0 1rem;
     letter-spacing: -.015em; text-wrap: balance; }
h2 { font-size: 1.35rem; line-height: 1.25; margin: 0 0 .25rem; letter-spacing: -.01em; }
h3 { font-size: 1rem; margin: 0 0 .6rem; }
p { margin: .5rem 0; max-width: 46rem; }
a { color: var(--kairos); text-decoration: none; }
a:hover { text-decoration: underline; }
code { font: .9em ui-monospace, "DejaVu Sans Mono", monospace; }
.over { color: var(--kairos); font-weight: 600; margin: 0; }
.soft, .note { color: var(--soft); font-size: .875rem; }
dl.facts { display: grid; grid-template-columns: max-content 1fr; gap: .15rem 1rem;
           margin: 1rem 0 0; font-size: .9rem; }
dl.facts dt { color: var(--soft); }
dl.facts dd { margin: 0; }
.card { background: var(--card); border: 1px solid var(--line); border-radius: .75rem;
        padding: 1.1rem 1.25rem; }
main > section { margin-top: 3rem; scroll-margin-top: 1rem; }

.figures { list-style: none; margin: 1rem 0 0; padding: .25rem 1.25rem; }
.figures li {
  display: grid; align-items: center; gap: .1rem 1.25rem; padding: .6rem 0;
  grid-template-columns: minmax(15rem, 1fr) minmax(7rem, 14rem) 4.5rem 4.5rem 7.5rem;
}
.figures li + li { border-top: 1px solid var(--line); }
.figures .name { font-weight: 600; }
.figures .name small { display: block; font-weight: 400; color: var(--soft); }
.figures .value { font-size: 1.15rem; font-weight: 600; text-align: right; }
.figures .limit { color: var(--soft); }
.bullet { position: relative; height: .7rem; border-radius: .2rem; overflow: hidden;
          background: var(--line); }
.bullet i, .bullet u, .bullet b { position: absolute; top: 0; bottom: 0; left: 0; }
.bullet u { background: var(--good-tint); }
.bullet i { top: .18rem; bottom: .18rem; background: var(--kairos);
            border-radius: 0 .1rem .1rem 0; }
.bullet b { width: 2px; margin-left: -1px; background: var(--ink); }
.pill { display: inline-block; border-radius: 1rem; padding: .05rem .7rem; font-size: .85rem;
        font-weight: 600; white-space: nowrap; text-align: center; }
.reached { color: var(--good); background: var(--good-tint); }
.missed { color: var(--bad); background: var(--bad-tint); }
.open { color: var(--open); background: var(--open-tint); }

.charts { display: grid; gap: 1rem; margin-top: 1rem;
          grid-template-columns: repeat(auto-fit, minmax(min(100%, 26rem), 1fr)); }
.chart div { display: grid; grid-template-columns: 9.25rem 1fr 4.25rem; gap: .6rem;
             align-items: center; font-size: .9rem; line-height: 1.9; }
.chart em { font-style: normal; }
.chart s { text-decoration: none; }
.chart s i { display: block; height: .8rem; min-width: 2px; border-radius: 0 .2rem .2rem 0;
             background: var(--raw); }
.chart .kairos i { background: var(--kairos); }
.chart .kairos em { font-weight: 600; }
.chart .omniorb i { background: var(--omniorb); }
.chart b { font-weight: 500; text-align: right; }

nav ul { list-style: none; padding: 0; margin: 1rem 0 0; display: grid; gap: .5rem;
         grid-template-columns: repeat(auto-fit, minmax(min(100%, 21rem), 1fr)); }
nav li { display: flex; justify-content: space-between; align-items: center; gap: .75rem;
         padding: .55rem .9rem; background: var(--card); border: 1px solid var(--line);
         border-radius: .6rem; }

.picture { margin: 1rem 0 0; overflow-x: auto; }
.picture svg { display: block; width: 100%; min-width: 44rem; height: auto; }
.picture svg [fill="#ffffff"] { fill: none; }
.picture svg [color="black"], .picture svg [color="rgb(0,0,0)"] { color: var(--ink); }
.picture svg [fill="black"] { fill: var(--ink); }
.picture svg [stroke="rgb(221, 221, 221)"] { stroke: var(--line); }
.picture svg [stroke="rgb( 85,  85,  85)"] { stroke: var(--soft); }
.picture svg [fill="rgb(85,85,85)"] { fill: var(--soft); }
.picture svg [stroke="rgb( 34,  34,  34)"] { stroke: var(--ink); }
.picture svg [color="rgb( 34,  34,  34)"] { color: var(--ink); }
.picture svg [fill="rgb( 34,  34,  34)"] { fill: var(--ink); }
.picture svg [stroke="rgb( 11,  95, 165)"] { stroke: var(--kairos); }
.picture svg [color="rgb( 11,  95, 165)"] { color: var(--kairos); }
.picture svg [fill="rgb( 11,  95, 165)"] { fill: var(--kairos); }
.picture svg [stroke="rgb(209,  73,  91)"] { stroke: var(--omniorb); }
.picture svg [color="rgb(209,  73,  91)"] { color: var(--omniorb); }
.picture svg [fill="rgb(209,  73,  91)"] { fill: var(--omniorb); }

details { margin-top: 1rem; }
summary { cursor: pointer; font-weight: 600; padding: .2rem 0; }
.scroll { overflow: auto; max-height: 85vh; padding: 0; margin-top: .6rem; }
table { border-collapse: collapse; font-size: .82rem; line-height: 1.35; min-width: 100%; }
th, td { padding: .32rem .6rem; text-align: left; white-space: nowrap; }
th { position: sticky; top: 0; background: var(--card); color: var(--soft); font-weight: 600;
     box-shadow: inset 0 -1px var(--line); }
tbody tr:nth-child(even) td { background: color-mix(in srgb, var(--ink) 4%, transparent); }
.number { text-align: right; }
td.reached, td.missed, td.open { background: none; }
td.missed { font-weight: 600; }
ul.short { padding-left: 1.2rem; font-size: .9rem; margin: .6rem 0; }
footer { margin-top: 4rem; border-top: 1px solid var(--line); padding-top: 1rem; }

@media (max-width: 46rem) {
  body { padding-top: 1.5rem; }
  .figures { padding: .25rem 1rem; }
  .chart div { grid-template-columns: 8.25rem 1fr 3.75rem; }
  .figures li { grid-template-columns: 1fr max-content max-content; gap: .3rem .75rem; }
  .figures .name { grid-column: 1 / -1; }
  .figures .bullet { grid-column: 1 / -1; order: 5; }
  .figures .value { text-align: left; }
  .figures .limit { align-self: center; }
}
@media print { .scroll { max-height: none; } body { max-width: none; } }
)css";

} // namespace kairos::bench
