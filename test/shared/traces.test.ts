/**
 * Recorded runs of real models, played by `../shared/traces/replay-llm.mjs` as the model's endpoint: every reproducible observation
 * must come out equal, and at each event of it the web app says nothing that the log contradicts. Needs `../shared`; run with
 * `npm run test:shared`.
 */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { fromJson, type Event } from '@tendon/protocol';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { TendonProcess, Watcher } from '@tendon/testing/servers';

const traces = fileURLToPath(new URL('../../../shared/traces/', import.meta.url));
const only = process.env.TRACE;

interface Header {
  readonly task: string;
  readonly workdir: string;
}

let tendon: TendonProcess | undefined;
let model: ChildProcess | undefined;

afterEach(async () => {
  model?.kill();
  await tendon?.remove();
});

async function startModel(trace: string, workdir: string): Promise<string> {
  const args = ['--trace', join(traces, trace), '--port', '0', '--map-path', `${workdir}=/workspace`];
  model = spawn(process.execPath, [join(traces, 'replay-llm.mjs'), ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  const printed = await new Promise<string>((resolve) => model?.stdout?.once('data', (data: Buffer) => resolve(data.toString())));
  return /http:\S+/.exec(printed)![0];
}

/** Every step is aligned, since what cannot be reproduced was played too; only the reproducible ones count. */
function mismatches(log: string, trace: string, workdir: string): unknown[] {
  const args = [join(traces, 'compare.mjs'), log, join(traces, trace), '--map-path', `/workspace=${workdir}`, '--all', '--json'];
  const { rows } = JSON.parse(spawnSync(process.execPath, args, { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 }).stdout) as {
    rows: { step: number; result: string }[];
  };
  const lines = readFileSync(join(traces, trace), 'utf8').split('\n').slice(1).filter(Boolean);
  const steps = lines.map((line) => JSON.parse(line) as { i: number; reproducible: boolean });
  const reproducible = new Set(steps.filter((step) => step.reproducible).map((step) => step.i));
  return rows.filter((row) => reproducible.has(row.step) && row.result !== 'match');
}

/** The app's own check of its sentences; its modules expect the address of a page. */
async function pageChecker(): Promise<(events: readonly Event[]) => readonly string[]> {
  vi.stubGlobal('location', new URL('http://localhost'));
  const checker = new URL('../../packages/web/src/stream/untrue-sentences.test-support.ts', import.meta.url).href;
  const { untrueSentences } = (await import(checker)) as { untrueSentences: (events: readonly Event[]) => readonly string[] };
  return untrueSentences;
}

describe('recorded runs', () => {
  const files = readdirSync(traces).filter((name) => name.endsWith('.jsonl') && (!only || name.includes(only)));
  for (const [trace, calling] of files.flatMap((name) => [[name, 'native'] as const, [name, 'text'] as const])) {
    it(`${trace}: every reproducible observation is equal with calls in ${calling} form`, { timeout: 600_000 }, async () => {
      const header = JSON.parse(readFileSync(join(traces, trace), 'utf8').split('\n')[0] ?? '') as Header;
      const baseUrl = await startModel(trace, header.workdir);
      tendon = await TendonProcess.start({
        LLM_MODEL: 'openai/replay',
        LLM_API_KEY: 'replayed-key',
        LLM_BASE_URL: baseUrl,
        LLM_TOOL_CALLING: calling,
      });
      const { conversation_id: id } = await tendon.json<{ conversation_id: string }>('/api/conversations', {});
      const workspace = join(tendon.home, 'workspaces', id);
      mkdirSync(workspace, { recursive: true });
      spawnSync(process.execPath, [join(traces, 'replay-llm.mjs'), '--trace', join(traces, trace), '--setup', workspace]);
      const watcher = new Watcher(tendon.url, id);
      await watcher.untilState('awaiting_user_input');
      watcher.send('message', { content: header.task || 'Go on.', image_urls: [], file_urls: [] });
      await watcher.untilState('running');
      const from = watcher.events.length;
      await watcher.until(
        (event) =>
          watcher.events.indexOf(event) >= from &&
          event.observation === 'agent_state_changed' &&
          ['finished', 'error', 'awaiting_user_input'].includes(String(event.extras?.agent_state)),
      );
      watcher.close();
      const log = join(tendon.home, 'trajectory.json');
      const events = await tendon.trajectory(id);
      writeFileSync(log, JSON.stringify(events));
      expect(mismatches(log, trace, header.workdir)).toEqual([]);
      expect((await pageChecker())(events.map((event) => fromJson({ ...event })))).toEqual([]);
    });
  }
});
