#!/usr/bin/env node
// Measures what it costs a client that its conversation is another server's: a stop, and an event's way, through a gateway and without it.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { at } from './at.ts';
import { SeveralServers } from './several-servers.ts';
import { create, until } from './v0-client.ts';

const HELP = `node --conditions=tendon-source bench/hop.ts [options]
  --rounds N    how often each is measured (100)
`;
const { values: options } = parseArgs({
  options: { rounds: { type: 'string', default: '100' }, help: { type: 'boolean', default: false } },
});

/** Longer than anybody waits: it is stopped. */
const NEVER_MS = 3_600_000;

/** From the client's stop of an answer that a model is giving, until the client has the state `stopped`; ms. */
async function stopAt(url: string): Promise<number> {
  const conversation = await create(url);
  const { socket } = conversation;
  socket.emit('oh_user_action', { action: 'message', args: { content: 'Think.', image_urls: [], file_urls: [] } });
  await until(conversation, 0, ({ extras }) => extras?.agent_state === 'running');
  const began = performance.now();
  socket.emit('oh_user_action', { action: 'change_agent_state', args: { agent_state: 'stopped' } });
  await until(conversation, 0, ({ extras }) => extras?.agent_state === 'stopped');
  const took = performance.now() - began;
  socket.close();
  return took;
}

/** A request that is answered from memory; ms. */
async function askAt(url: string, id: string): Promise<number> {
  const began = performance.now();
  const answer = await fetch(`${url}/api/conversations/${id}/vscode-url`);
  await answer.arrayBuffer();
  return performance.now() - began;
}

async function measure(home: string, rounds: number): Promise<string> {
  const script = join(home, 'script.json');
  writeFileSync(script, JSON.stringify([{ text: 'Too late.', delayMs: NEVER_MS, times: 100 }]));
  const servers = await SeveralServers.start(home);
  try {
    const env = { RUNTIME: 'none', LLM_MODEL: `scripted/${script}` };
    const worker = await servers.add(env);
    const gateway = await servers.add({ ...env, TENDON_ROLE: 'gateway' });
    await servers.settled();
    const places = { direct: worker.target.url, hop: gateway.target.url };
    const stops = { direct: [] as number[], hop: [] as number[] };
    const asked = { direct: [] as number[], hop: [] as number[] };
    const { id } = await create(places.direct);
    // One after the other, so that what else the machine does meets both.
    for (let round = -5; round < rounds; round++) {
      for (const place of ['direct', 'hop'] as const) {
        const [stop, ask] = [await stopAt(places[place]), await askAt(places[place], id)];
        if (round >= 0) stops[place].push(stop);
        if (round >= 0) asked[place].push(ask);
      }
    }
    return [row('stop → stopped', stops), row('GET, answered from memory', asked)].join('\n');
  } finally {
    await servers.stop();
  }
}

function row(what: string, { direct, hop }: { readonly direct: readonly number[]; readonly hop: readonly number[] }): string {
  const figures = (times: readonly number[]): string => [0.5, 0.99].map((share) => at(times, share).toFixed(1)).join(' / ');
  return `${what}, ms, median / 99th percentile: direct ${figures(direct)}, through a gateway ${figures(hop)}, ratio of the medians ${(at(hop, 0.5) / at(direct, 0.5)).toFixed(2)}`;
}

if (options.help) process.stdout.write(HELP);
else {
  const home = mkdtempSync(join(tmpdir(), 'tendon-hop-'));
  try {
    const rows = await measure(home, Number(options.rounds));
    process.stdout.write(`${cpus().length} cores, load ${loadavg()[0]!.toFixed(1)}, Node ${process.versions.node}\n${rows}\n`);
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
  process.exit();
}
