import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openSqliteStorage } from '@tendon/core/storage';
import { AgentStateChangedObservation, MessageAction, SystemAction } from '@tendon/protocol';
import { at } from '../at.ts';
import type { Row } from '../row.ts';
import { start } from '../target.ts';

const CONVERSATIONS = 10_000;
const AT_WORK = 1_000;
/** Events of each conversation that is at work. */
const EVENTS = 60;
const ANSWER_MS = 200;
const DEADLINE_MS = 180_000;

/** The start of a server after the last one was killed with a thousand agents at work, as its clients see it. */
export const restart: Row = {
  title:
    'restart with 1,000 of 10,000 conversations at work, a model that takes 200 ms: all asked, s / most requests at once / `GET /api/conversations` meanwhile, ms (median / 99th percentile / worst)',
  of: 'build',
  write: ([seconds, most, median, late, worst]) =>
    `${seconds?.toFixed(1)} / ${most} / ${median?.toFixed(0)} / ${late?.toFixed(0)} / ${worst?.toFixed(0)}`,
  async measure(build, run) {
    const home = join(run.home, 'restart');
    await fillStore(home);
    const model = await slowModel();
    const env = { LLM_MODEL: 'openai/x', LLM_API_KEY: 'benchmark-key', LLM_BASE_URL: model.url };
    const target = build.server(home, env);
    const began = performance.now();
    const { stop } = await start(target);
    const times: number[] = [];
    try {
      while (model.asked() < AT_WORK) {
        if (performance.now() - began > DEADLINE_MS) throw new Error(`only ${model.asked()} of ${AT_WORK} asked their model`);
        const before = performance.now();
        await (await fetch(`${target.url}/api/conversations?limit=20`)).text();
        times.push(performance.now() - before);
        await sleep(20);
      }
      return [(performance.now() - began) / 1000, model.most(), at(times, 0.5), at(times, 0.99), Math.max(...times)];
    } finally {
      await stop();
      model.close();
    }
  },
};

async function fillStore(home: string): Promise<void> {
  const workspace = join(home, 'workspace');
  mkdirSync(workspace, { recursive: true });
  const clock = { now: () => new Date(), sleep: () => Promise.resolve() };
  const storage = await openSqliteStorage({ path: join(home, 'tendon.db'), blobDir: join(home, 'blobs'), clock });
  const common = { workspace, agent: 'CodeActAgent', model: '', trigger: 'gui' };
  const none = { selected_repository: null, selected_branch: null, git_provider: null };
  const fill = async (index: number): Promise<void> => {
    const id = index.toString(16).padStart(32, '0');
    const created_at = new Date(Date.UTC(2026, 0, 1) + index).toISOString();
    const value = { id, title: `Conversation ${index}`, created_at, updated_at: created_at, ...common, ...none };
    await storage.records.put('conversations', { id, sort: created_at, value });
    if (index >= AT_WORK) return;
    await storage.records.put('active', { id, sort: '', value: {} });
    await (await storage.events.open(id)).append(atWork(), { expectedId: 0 });
  };
  for (let from = 0; from < CONVERSATIONS; from += 500) {
    await Promise.all(Array.from({ length: 500 }, (_, index) => fill(from + index)));
  }
  await storage.close();
}

/** The log of an agent that is about to ask its model. */
function atWork() {
  const state = (agent_state: 'awaiting_user_input' | 'running') => ({
    source: 'environment' as const,
    ...AgentStateChangedObservation.create('', { agent_state, reason: '' }),
  });
  const says = (source: 'user' | 'agent', content: string) => ({ source, ...MessageAction.create({ content }) });
  const before = [
    { source: 'agent' as const, ...SystemAction.create({ content: 'You are an agent.' }) },
    state('awaiting_user_input'),
    says('user', 'Do it.'),
    state('running'),
  ];
  return [...before, ...Array.from({ length: EVENTS - before.length }, () => says('agent', 'x'.repeat(1000)))];
}

async function slowModel() {
  let asked = 0;
  let open = 0;
  let most = 0;
  const server = createServer(async (request, response) => {
    for await (const _piece of request);
    asked += 1;
    most = Math.max(most, ++open);
    await sleep(ANSWER_MS);
    open -= 1;
    sayDone(response);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    asked: () => asked,
    most: () => most,
    close: () => void (server.closeAllConnections(), server.close()),
  };
}

function sayDone(response: ServerResponse): void {
  const chunk = (delta: object, finish_reason: string | null): string =>
    `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'x', choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.end(`${chunk({ role: 'assistant', content: 'done' }, null)}${chunk({}, 'stop')}data: [DONE]\n\n`);
}
