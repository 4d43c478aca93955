#!/usr/bin/env node
// Writes docs/conformance.md: what holds on Tendon, started here, and beside it on another server that is named.
//   node scripts/conformance-page.mjs
//   node scripts/conformance-page.mjs --peer http://127.0.0.1:3400 --start './openhands-start.sh v0 --port 3400' \
//        --deviations test/conformance/deviations/openhands-0.62.0.json
// Without --peer the page repeats what the peer that it names has answered; checks that are newer count as not asked.
// The peer is started anew for every five checks: a server that leaves its sandboxes behind would run out of memory. It takes long:
// `--answers FILE` stores what was answered, and only what failed or is new is asked again.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { setup } from './setup.mjs';

const { values } = parseArgs({
  options: {
    peer: { type: 'string' },
    start: { type: 'string' },
    deviations: { type: 'string' },
    answers: { type: 'string' },
    timeout: { type: 'string', default: '60' },
  },
});
const { node, env } = await setup('test');
async function main() {
  const build = fileURLToPath(new URL('build.mjs', import.meta.url));
  if (spawnSync(node, [build, '--if-stale', 'executor', 'web'], { stdio: 'inherit', env }).status !== 0) process.exit(1);
  const { conform } = await import('../packages/conformance/src/run/conform.ts');
  const { renderMarkdown, tally } = await import('../packages/conformance/src/report/renderings.ts');
  const { TendonProcess } = await import('@tendon/testing/servers');

  const peers = [values.peer ? await askPeer(conform) : await storedAnswers()];
  const tendon = await TendonProcess.start({ SANDBOX_NO_OUTPUT_SECONDS: '10' });
  const own = await conform({ url: tendon.url, onResult });
  await tendon.remove();
  const runs = [own, ...peers];
  const totals = runs.map(({ server, results }) => {
    const levels = tally(results).map(
      ({ level, passed, known, absent, total }) =>
        `${level} ${passed}/${total}${known > 0 ? ` (${known} known)` : ''}${absent > 0 ? ` (${absent} not asked)` : ''}`,
    );
    return `- **${server}**: ${levels.join(' · ')}`;
  });
  writeFileSync(PAGE, `${HEAD}\n${totals.join('\n')}\n\n${renderMarkdown(runs)}\n\n${await mutantTable()}`);
}

const HEAD = `# Conformance

Everything that clients of every generation rely on, checked on a running server from outside. \`npx tendon conformance URL\` runs it against any
server; \`--deviations FILE\` lists a server's known differences. Made by \`node scripts/conformance-page.mjs\`.
`;

const PAGE = new URL('../docs/conformance.md', import.meta.url);

/** The column of the peer as the page has it: `| id | what | cites | Tendon | peer |` below `## level`. */
async function storedAnswers() {
  const { CHECKS } = await import('../packages/conformance/src/levels/index.ts');
  const { deviationOf, readDeviations } = await import('../packages/conformance/src/run/deviations.ts');
  const deviations = await readDeviations(fileURLToPath(new URL('../test/conformance/deviations/openhands-0.62.0.json', import.meta.url)));
  const words = new Map();
  const reasons = new Map();
  let level = '';
  for (const line of readFileSync(PAGE, 'utf8').split('\n')) {
    if (line.startsWith('## ')) level = line.slice(3);
    const row = /^\| `([^`]+)` \|.*\| ([^|]+) \|$/.exec(line);
    if (row) words.set(`${level}/${row[1]}`, row[2]);
    const reason = /^- (`.*`) – (.*?): (.*)$/.exec(line);
    if (reason?.[2] === deviations.server) for (const [, id] of reason[1].matchAll(/`([^`]+)`/g)) reasons.set(`${level}/${id}`, reason[3]);
  }
  const answer = (id) => {
    if (words.get(id) === 'yes') return { verdict: 'passed' };
    if (words.get(id) === 'no') return { verdict: 'deviates', why: reasons.get(id) ?? deviationOf(deviations, id) };
    return { verdict: 'absent', why: reasons.get(id) ?? 'not asked: the check is newer than its answers' };
  };
  return { url: '', server: deviations.server, results: CHECKS.map((check) => ({ check, ...answer(check.id) })) };
}

async function mutantTable() {
  const { MUTANTS } = await import('../test/long/mutants/mutants.ts');
  const rows = MUTANTS.map(({ id, fault, caughtBy }) => `| \`${id}\` | ${fault} | ${caughtBy.map((check) => `\`${check}\``).join(', ')} |`);
  return [
    '## How good the suite is',
    'A right server behind a proxy that does one thing wrong must turn each of these checks red, with words that name the fault; behind one',
    'that does nothing wrong they hold. `npm run test:long -- mutants` asks every row.',
    '',
    '| mutant | a server that … | is caught by |',
    '|---|---|---|',
    ...rows,
    '',
  ].join('\n');
}

const onResult = ({ check, verdict, why }) => console.log(verdict, check.id, verdict === 'failed' ? why : '');

async function askPeer(conform) {
  const { CHECKS } = await import('../packages/conformance/src/levels/index.ts');
  const { readDeviations } = await import('../packages/conformance/src/run/deviations.ts');
  const deviations = await readDeviations(values.deviations);
  const options = { url: values.peer, deviations, parallel: 1, timeoutMs: Number(values.timeout) * 1000, onResult };
  const answers = values.answers && existsSync(values.answers) ? JSON.parse(readFileSync(values.answers, 'utf8')) : {};
  const open = CHECKS.map(({ id }) => id).filter((id) => answers[id]?.verdict === 'failed' || !answers[id]);
  for (let at = 0; at < open.length; at += 5) {
    const only = open.slice(at, at + 5);
    const stop = await started(values.start, values.peer);
    const { results } = await conform({ ...options, only });
    for (const { check, ...answer } of results) if (only.includes(check.id)) answers[check.id] = answer;
    if (values.answers) writeFileSync(values.answers, JSON.stringify(answers, null, 2));
    await stop();
  }
  return { url: values.peer, server: deviations.server, results: CHECKS.map((check) => ({ check, ...answers[check.id] })) };
}

/** Runs the peer until the returned function is called. */
async function started(command, url) {
  const child = spawn('bash', ['-c', `exec ${command}`], { stdio: 'ignore', detached: true });
  const deadline = Date.now() + 120_000;
  for (;;) {
    const answer = await fetch(`${url}/alive`).catch(() => undefined);
    if (answer?.ok) break;
    if (child.exitCode !== null || Date.now() > deadline) throw new Error(`${command} did not start`);
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
  const ended = new Promise((resolve) => child.once('exit', resolve));
  return () => {
    if (child.exitCode === null && child.signalCode === null) process.kill(-child.pid, 'SIGTERM');
    return ended;
  };
}

if (process.execPath !== node) {
  const child = spawn(node, ['--conditions=tendon-source', ...process.argv.slice(1)], { stdio: 'inherit', env });
  child.once('exit', (code) => process.exit(code ?? 1));
} else {
  await main();
}
