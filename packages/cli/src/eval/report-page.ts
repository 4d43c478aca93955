import type { EvalReport, ReportedAttempt } from './eval-figures.ts';

/** The page refuses every script and every address, whatever a task or a model has written into it. */
const POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

const STYLE = `
:root { color-scheme: light dark; font: 15px/1.5 system-ui, sans-serif; }
body { max-width: 72rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.4rem; margin: 0 0 .25rem; } h2 { font-size: 1.1rem; margin: 2rem 0 .5rem; }
dl { display: grid; grid-template-columns: repeat(auto-fill, minmax(9rem, 1fr)); gap: 1rem; }
dt { opacity: .7; font-size: .85rem; } dd { margin: 0; font-size: 1.3rem; font-variant-numeric: tabular-nums; }
table { border-collapse: collapse; width: 100%; } th, td { text-align: left; padding: .3rem .6rem; border-bottom: 1px solid #8884; vertical-align: top; }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; }
.yes { color: #187a3c; } .no { color: #b3261e; } @media (prefers-color-scheme: dark) { .yes { color: #6fce8f; } .no { color: #ff8a80; } }
pre { white-space: pre-wrap; overflow-wrap: anywhere; margin: .3rem 0; max-height: 20rem; overflow: auto; font-size: .85rem; }
small { opacity: .7; }`;

/** The report as one file without scripts, and with nothing from outside. All text in it is untrusted. */
export function reportPage({ dataset, model, totals, attempts }: EvalReport): string {
  const facts: readonly (readonly [name: string, value: string])[] = [
    ['Tasks solved', `${totals.tasksSolved} of ${totals.tasks}`],
    ...Object.entries(totals.passAt).map(([k, chance]) => [`pass@${k}`, `${(chance * 100).toFixed(1)} %`] as const),
    ['Cost', `$${totals.usd.toFixed(2)}`],
    ['Tokens in', counted(totals.promptTokens)],
    ['Tokens out', counted(totals.completionTokens)],
    ['Steps', counted(totals.steps)],
    ['Time of agents', `${totals.seconds} s`],
    ...(totals.unpricedTokens > 0 ? [['Tokens without a price', counted(totals.unpricedTokens)] as const] : []),
    ...(totals.left > 0 ? [['Attempts left', counted(totals.left)] as const] : []),
  ];
  const failures = Object.entries(totals.failures).map(([kind, count]) => `<tr><td>${escaped(kind)}</td><td class="n">${count}</td></tr>`);
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="${POLICY}">
<meta name="viewport" content="width=device-width"><title>${escaped(dataset)}: ${escaped(model)}</title><style>${STYLE}</style></head>
<body><h1>${escaped(dataset)}</h1><p>${escaped(model)}</p>
<dl>${facts.map(([name, value]) => `<div><dt>${escaped(name)}</dt><dd>${escaped(value)}</dd></div>`).join('')}</dl>
${failures.length > 0 ? `<h2>Failures by kind</h2><table>${failures.join('')}</table>` : ''}
<h2>Attempts</h2>
<table><thead><tr><th>Task</th><th>Result</th><th class="n">Steps</th><th class="n">Tokens</th><th class="n">Cost</th><th class="n">Seconds</th><th>Trajectory</th></tr></thead>
<tbody>${attempts.map(attemptRow).join('\n')}</tbody></table></body></html>
`;
}

function attemptRow({ task, attempt, tags, solved, failure, detail, use, tests, trajectory, atif }: ReportedAttempt): string {
  const about = [attempt > 1 ? `attempt ${attempt}` : '', ...tags].filter((text) => text !== '').join(', ');
  const result = solved ? '<span class="yes">solved</span>' : `<span class="no">failed: ${escaped(failure ?? '')}</span>`;
  const more = detail === '' ? '' : `<details><summary>output</summary><pre>${escaped(detail)}</pre></details>`;
  const links = [trajectory, ...(atif ? [atif] : [])].map((path) => {
    const name = path === atif ? 'ATIF' : 'events';
    return `<a href="${escaped(encodeURI(path))}">${name}</a>`;
  });
  return `<tr><td>${escaped(task)}<br><small>${escaped(about)}</small></td><td>${result}${tests ? `<br><small>${testsText(tests)}</small>` : ''}${more}</td><td class="n">${use.steps}</td>
<td class="n">${counted(use.promptTokens + use.completionTokens)}</td><td class="n">$${use.usd.toFixed(3)}</td><td class="n">${use.seconds}</td><td>${links.join(' ')}</td></tr>`;
}

function testsText({ failToPass, passToPass }: NonNullable<ReportedAttempt['tests']>): string {
  return `fail to pass: ${failToPass.passed} of ${failToPass.total} · pass to pass: ${passToPass.passed} of ${passToPass.total}`;
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/** As text and as a quoted attribute; without controls, and marks that turn the direction of writing. */
function escaped(text: string): string {
  return text
    .replaceAll(/[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu, (mark) => (mark === '\n' || mark === '\t' ? mark : ''))
    .replaceAll(/[&<>"']/g, (sign) => ENTITIES[sign]!);
}

function counted(value: number): string {
  return value.toLocaleString('en-US');
}
