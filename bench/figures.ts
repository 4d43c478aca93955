#!/usr/bin/env node
// Measures the rows of the README's figure table for Tendon, and beside them for peers that speak the V0 protocol, in one run.
//   npm run bench -- [--rounds N] [--peer NAME=URL] [--start NAME='COMMAND'] [--cli NAME='COMMAND {task}'] [--write]
// --write puts the table, with date and machine, into docs/benchmarks.md.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, fdatasyncSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { cpus, release, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { containerStarts } from './containers.ts';
import { startModelServer, type ModelServer } from './model-server.ts';
import { membersOf, pssMiB } from './process-memory.ts';
import { start, type RunningTarget, type Target } from './target.ts';
import { configure, create, lastId, replay, run, runCell, type V0Conversation } from './v0-client.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    peer: { type: 'string', multiple: true, default: [] },
    start: { type: 'string', multiple: true, default: [] },
    cli: { type: 'string', multiple: true, default: [] },
    write: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
if (options.help) {
  process.stdout.write(
    `${readFileSync(fileURLToPath(import.meta.url), 'utf8')
      .split('\n')
      .slice(1, 5)
      .join('\n')
      .replaceAll('// ', '')}\n`,
  );
  process.exit(0);
}
const rounds = Number(options.rounds);
const STEPS = 60;
const CONVERSATIONS = 8;
const HISTORY = 2000;
const CELLS = 20;

type Figures = Map<string, number[]>;
const add = (figures: Figures, row: string, ...values: number[]) => figures.set(row, [...(figures.get(row) ?? []), ...values]);
const sorted = (values: readonly number[]) => values.toSorted((a, b) => a - b);
const median = (values: readonly number[]) => sorted(values)[values.length >> 1] ?? Number.NaN;
const pair = (text: string): [string, string] => [text.slice(0, text.indexOf('=')), text.slice(text.indexOf('=') + 1)];

const ROWS = {
  start: 'server start → first 200, ms',
  idle: 'server idle memory, PSS MiB',
  create: 'create conversation → ready for the first message, ms',
  perConversation: 'memory per open conversation with a running sandbox, PSS MiB',
  container: 'container start → ready for the first action, image present, Docker, ms',
  podman: '  the same on Podman with runc, ms',
  step: 'one step: model answer → next model request, `true` in the shell, ms',
  fsync: '  beside it: one fdatasync on this disk, ms',
  kernel: 'Jupyter: first cell of a running sandbox, kernel start included, ms',
  cell: 'Jupyter: every other cell (`1 + 1`), action → observation, ms',
  history: `history of ${HISTORY} events to a connecting client, ms`,
  cli: 'one-shot command line, no steps, start → done, ms',
  request: 'first request to the model, bytes',
} as const;

/** Says on stderr what is being measured: a run takes minutes. */
const say = (text: string) => process.stderr.write(`${text}\n`);

async function measureServer(target: Target, model: ModelServer, figures: Figures): Promise<void> {
  say(`${target.name}: starts`);
  for (let round = 0; round < rounds && target.command; round++) {
    const running = await start(target);
    if (running.startMs !== undefined) add(figures, ROWS.start, running.startMs);
    await running.stop();
  }
  const running = await start(target);
  try {
    await sleep(3000);
    add(figures, ROWS.idle, pssMiB(membersOf(running.pid, target.home)));
    await configure(target.url, model.url);
    await measureConversations(target, running, model, figures);
  } finally {
    await running.stop();
  }
}

async function measureConversations(target: Target, running: RunningTarget, model: ModelServer, figures: Figures): Promise<void> {
  const memory = () => pssMiB(membersOf(running.pid, target.home));
  say(`${target.name}: conversations`);
  const warm = await create(target.url);
  await run(warm, 'BENCH:1:true {i}');
  const before = memory();
  const open: V0Conversation[] = [];
  for (let i = 0; i < CONVERSATIONS; i++) {
    const conversation = await create(target.url);
    add(figures, ROWS.create, conversation.readyMs);
    await run(conversation, 'BENCH:1:true {i}');
    open.push(conversation);
  }
  await sleep(1500);
  add(figures, ROWS.perConversation, (memory() - before) / CONVERSATIONS);
  say(`${target.name}: steps`);
  for (let round = 0; round < rounds; round++) {
    model.reset();
    await run(warm, `BENCH:${STEPS}:true {i}`);
    const turns = model.requests.filter((request) => request.hasTools);
    add(figures, ROWS.request, turns[0]?.bytes ?? Number.NaN);
    add(figures, ROWS.step, ...turns.slice(1).map((turn, i) => turn.arrived - (turns[i]?.answered ?? Number.NaN)));
  }
  say(`${target.name}: cells`);
  for (const conversation of open) {
    add(figures, ROWS.kernel, await runCell(conversation, '1 + 1'));
    for (let i = 0; i < CELLS; i++) add(figures, ROWS.cell, await runCell(conversation, `1 + ${i}`));
  }
  say(`${target.name}: history`);
  while (lastId(warm) < HISTORY) await run(warm, `BENCH:${Math.min(200, Math.ceil((HISTORY - lastId(warm)) / 2))}:true {i}`);
  for (let round = 0; round < rounds; round++) add(figures, ROWS.history, await replay(target.url, warm.id, lastId(warm)));
  for (const conversation of [warm, ...open]) conversation.socket.close();
}

/** What one durable write costs here, so that the step can be read against it. */
function measureDisk(home: string, figures: Figures): void {
  const fd = openSync(join(home, 'fsync-probe'), 'w');
  for (let i = 0; i < 200; i++) {
    writeSync(fd, Buffer.alloc(4096), 0, 4096, i * 4096);
    const started = performance.now();
    fdatasyncSync(fd);
    add(figures, ROWS.fsync, performance.now() - started);
  }
}

async function measureCli(name: string, command: string, { env, figures }: { env: NodeJS.ProcessEnv; figures: Figures }): Promise<void> {
  say(`${name}: command line`);
  for (let round = 0; round <= rounds; round++) {
    const cwd = mkdtempSync(join(tmpdir(), 'tendon-bench-'));
    const started = performance.now();
    // Not spawnSync: the model answers from this process.
    const child = spawn('bash', ['-c', `exec ${command.replace('{task}', "'BENCH:0:true'")}`], {
      cwd,
      env: { ...process.env, ...env },
      stdio: 'ignore',
    });
    const [code] = (await once(child, 'exit')) as [number | null];
    if (code !== 0) throw new Error(`${command} ended with ${code}`);
    if (round > 0) add(figures, ROWS.cli, performance.now() - started);
    rmSync(cwd, { recursive: true, force: true });
  }
}

const home = mkdtempSync(join(tmpdir(), 'tendon-bench-home-'));
const model = await startModelServer();
const peers = options.peer.map(pair);
const starts = new Map(options.start.map(pair));
const clis = new Map(options.cli.map(pair));
const port = 31_000 + (process.pid % 1000);
const main = join(root, 'packages/cli/dist/main.js');
if (!existsSync(main)) throw new Error('build first: npm run build');
const all = new Map<string, Figures>([['Tendon', new Map()]]);
try {
  const tendon: Target = {
    name: 'Tendon',
    url: `http://127.0.0.1:${port}`,
    command: `${process.execPath} ${main} serve`,
    home,
    env: { PORT: String(port), TENDON_HOME: home },
  };
  const ours = all.get('Tendon') ?? new Map();
  measureDisk(home, ours);
  await measureServer(tendon, model, ours);
  const cliHome = join(home, 'cli');
  const cliEnv = { TENDON_HOME: cliHome, LLM_MODEL: 'openai/gpt-4o', LLM_API_KEY: 'benchmark-key', LLM_BASE_URL: model.url };
  await measureCli('Tendon', `${process.execPath} ${main} run {task}`, { env: cliEnv, figures: ours });
  if (process.getuid?.() === 0) {
    say('containers');
    add(ours, ROWS.container, ...(await containerStarts('docker', rounds)));
    add(ours, ROWS.podman, ...(await containerStarts('podman', rounds)));
  }
  for (const [name, url] of peers) {
    const figures: Figures = new Map();
    all.set(name, figures);
    const command = starts.get(name);
    await measureServer({ name, url, ...(command && { command }) }, model, figures);
  }
  for (const [name, command] of clis) {
    const figures = all.get(name) ?? new Map();
    all.set(name, figures);
    const env = { OPENAI_API_KEY: 'benchmark-key', OPENAI_BASE_URL: model.url, LLM_BASE_URL: model.url };
    await measureCli(name, command, { env, figures });
  }
} finally {
  model.close();
  await sleep(500);
  for (const pid of membersOf(-1, home)) if (pid > 0) process.kill(pid, 'SIGKILL');
  rmSync(home, { recursive: true, force: true });
}

const names = [...all.keys()];
const cell = (values: readonly number[] | undefined) => {
  if (!values?.length) return '–';
  const show = (value: number) => (value >= 100 ? value.toFixed(0) : value.toFixed(1));
  return values.length === 1 ? show(values[0] ?? Number.NaN) : `${show(Math.min(...values))} / ${show(median(values))}`;
};
const table = [
  `| figure (minimum / median) | ${names.join(' | ')} |`,
  `|---|${names.map(() => '---|').join('')}`,
  ...Object.values(ROWS).map((row) => `| ${row} | ${names.map((name) => cell(all.get(name)?.get(row))).join(' | ')} |`),
].join('\n');
const machine = `${new Date().toISOString().slice(0, 10)}, ${cpus().length} cores (${cpus()[0]?.model.trim()}), Linux ${release()}, Node ${process.versions.node}, ${rounds} rounds`;
process.stdout.write(`${table}\n\n${machine}\n`);
if (options.write) {
  const page = join(root, 'docs/benchmarks.md');
  const text = readFileSync(page, 'utf8');
  writeFileSync(page, text.replace(/(<!-- figures -->\n)[^]*?(<!-- \/figures -->)/, `$1${machine}\n\n${table}\n$2`));
}
process.exit(0);
