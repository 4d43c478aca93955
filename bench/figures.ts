#!/usr/bin/env node
// Measures the rows of `rows/all-rows.ts` for Tendon, and beside them for peers that speak the V0 protocol, in one run.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { figureTable, machineLine } from './figure-table.ts';
import { measureRows } from './measure-rows.ts';
import { startModelServer } from './model-server.ts';
import { membersOf } from './process-memory.ts';
import type { Figures, Row, Run } from './row.ts';
import { ALL_ROWS } from './rows/all-rows.ts';
import { peers, tendon } from './subjects.ts';

const HELP = `npm run bench -- [options]
  --rounds N                  how often each figure is measured (5)
  --only TEXT                 only rows whose title has TEXT in it; may be repeated
  --conversations N           how many the rows under load open (200)
  --events N                  how long the logs of the rows about long ones are (100000)
  --peer NAME=URL             another server, measured beside ours; may be repeated
  --start NAME='COMMAND'      how to start it, when it does not run already
  --cli NAME='COMMAND {task}' another command line
  --write                     puts the table, with date and machine, into docs/benchmarks.md
`;
const several = { type: 'string', multiple: true, default: [] as string[] } as const;
const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    only: several,
    conversations: { type: 'string', default: '200' },
    events: { type: 'string', default: '100000' },
    peer: several,
    start: several,
    cli: several,
    write: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

/** Or why there are none. */
function chosenRows(): readonly Row[] | string {
  const fits = ({ title }: Row): boolean => options.only.some((text) => title.includes(text));
  const rows = options.only.length > 0 ? ALL_ROWS.filter(fits) : ALL_ROWS;
  if (rows.length === 0) return `no row has ${options.only.join(' or ')} in its title`;
  if (options.only.length > 0 && options.write) return '--write wants all rows: leave out --only';
  return rows;
}

async function measureAll(rows: readonly Row[]): Promise<ReadonlyMap<string, ReadonlyMap<Row, Figures>>> {
  const home = mkdtempSync(join(tmpdir(), 'tendon-bench-home-'));
  const model = await startModelServer();
  const numbers = { rounds: Number(options.rounds), conversations: Number(options.conversations), events: Number(options.events) };
  const run: Run = { ...numbers, model, home };
  const measured = new Map<string, ReadonlyMap<Row, Figures>>();
  try {
    for (const subject of [tendon(home, model.url), ...peers(options, model.url)]) {
      measured.set(subject.name, await measureRows(subject, rows, run));
    }
  } finally {
    model.close();
    await sleep(500);
    // Sandboxes outlive their servers.
    for (const pid of membersOf(-1, home)) if (pid > 0) process.kill(pid, 'SIGKILL');
    rmSync(home, { recursive: true, force: true });
  }
  return measured;
}

if (options.help) {
  process.stdout.write(HELP);
  process.exit(0);
}
const rows = chosenRows();
if (typeof rows === 'string') {
  process.stderr.write(`bench: ${rows}\n`);
  process.exit(2);
}
const table = figureTable(rows, await measureAll(rows));
const machine = machineLine(Number(options.rounds));
process.stdout.write(`${table}\n\n${machine}\n`);
if (options.write) {
  const page = fileURLToPath(new URL('../docs/benchmarks.md', import.meta.url));
  const text = readFileSync(page, 'utf8');
  writeFileSync(page, text.replace(/(<!-- figures -->\n)[^]*?(<!-- \/figures -->)/, `$1${machine}\n\n${table}\n$2`));
}
process.exit();
