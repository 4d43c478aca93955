import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { at } from '../at.ts';
import type { Figures, Row } from '../row.ts';
import { start } from '../target.ts';
import { connect, create, until, type V0Conversation, type V0Event } from '../v0-client.ts';

/** Each agent thinks once a second: two events, each for two clients. */
const THINK_MS = 1_000;
const THOUGHTS = 30;
const SCRIPT = [
  { toolCalls: [{ name: 'think', arguments: { thought: 'thought {i}' } }], times: THOUGHTS, delayMs: THINK_MS },
  { toolCalls: [{ name: 'finish', arguments: { message: 'Done.' } }] },
];

/** From the timestamp, which is before the event is durable, to the client, which is another process of the same machine. */
export const delivery: Row = {
  title: 'many conversations (200) × 2 clients: event → client, ms (median / 99th percentile)',
  of: 'build',
  write: (figures) => `${at(figures, 0.5)} / ${at(figures, 0.99)}`,
  async measure(build, { home, conversations }) {
    const script = join(home, 'thoughts.json');
    writeFileSync(script, JSON.stringify(SCRIPT));
    const target = build.server(join(home, 'delivery'), { RUNTIME: 'none', LLM_MODEL: `scripted/${script}` });
    const running = await start(target);
    try {
      return await lateness(target.url, conversations);
    } finally {
      await running.stop();
    }
  },
};

async function lateness(base: string, count: number): Promise<Figures> {
  const late: number[] = [];
  const note = ({ timestamp }: V0Event): void => void (timestamp && late.push(Date.now() - Date.parse(`${timestamp.replace('Z', '')}Z`)));
  const all: V0Conversation[] = [];
  for (let index = 0; index < count; index++) {
    const conversation = await create(base);
    conversation.socket.on('oh_event', note);
    connect(base, conversation.id, 1_000_000, note);
    all.push(conversation);
  }
  late.length = 0;
  // Not all in the same tick: people are not.
  for (const { socket } of all) {
    socket.emit('oh_user_action', { action: 'message', args: { content: 'Think.', image_urls: [], file_urls: [] } });
    await sleep(THINK_MS / count);
  }
  await Promise.all(all.map((conversation) => until(conversation, 0, ({ extras }) => extras?.agent_state === 'finished')));
  for (const { socket } of all) socket.close();
  return late;
}
