import { join } from 'node:path';
import { codeActAgent, openConversation, type Runtime } from '@tendon/core';
import { createLlmProvider } from '@tendon/core/llm';
import { openSqliteStorage } from '@tendon/core/storage';
import { MessageAction, RunObservation } from '@tendon/protocol';
import { createMask, Secret } from '@tendon/protocol/masking';
import { systemClock as clock } from '@tendon/server';
import { at } from '../at.ts';
import type { Row } from '../row.ts';

/** Two events each. */
const STEPS = 1_000;
const MEASURED = 100;
const OUTPUT_CHARS = 400;

/** In this process: the sandbox and the endpoint of the model answer at once. CPU time, because that is what grows with a conversation. */
export const request: Row = {
  title: `one step at ${2 * STEPS} events, answers of model and sandbox at once: CPU of all but them, ms`,
  of: 'build',
  async measure(_build, { home }) {
    const storage = await openSqliteStorage({ path: join(home, 'request/t.db'), blobDir: join(home, 'request/blobs'), clock });
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    const times: number[] = [];
    let step = 0;
    let began = process.cpuUsage();
    const provider = createLlmProvider({
      ...{ model: 'openai/gpt-4o', apiKey: new Secret('benchmark-key'), baseUrl: 'http://127.0.0.1:9/v1', clock },
      fetch: async () => {
        const { user, system } = process.cpuUsage(began);
        if (step > STEPS - MEASURED) times.push((user + system) / 1_000);
        if (step++ === STEPS) end();
        began = process.cpuUsage();
        return answer(step);
      },
    });
    const runtime = quiet();
    const conversation = await openConversation({
      ...{ id: 'c', log: await storage.events.open('c'), agent: codeActAgent },
      llm: async () => provider,
      sandbox: {
        runtimes: { acquire: async () => runtime, current: () => runtime, isWorkspaceEmpty: async () => true, stop: async () => undefined },
      },
      settings: { condenses: false, maxIterations: 2 * STEPS },
      host: { clock, mask: createMask([]) },
    });
    await conversation.submit(MessageAction.create({ content: 'go on' }));
    await ended;
    await conversation.close();
    await storage.close();
    return [at(times, 0), at(times, 0.5)];
  },
};

/** What an endpoint streams: one call of the shell. */
function answer(step: number): Response {
  const call = { name: 'execute_bash', arguments: JSON.stringify({ command: `sed -n ${step}p file.py` }) };
  const delta = { role: 'assistant', tool_calls: [{ index: 0, id: `call_${step}`, type: 'function', function: call }] };
  const chunk = (choice: object, extra = {}) =>
    `data: ${JSON.stringify({ id: `r${step}`, object: 'chat.completion.chunk', created: 0, model: 'gpt-4o', choices: [{ index: 0, finish_reason: null, ...choice }], ...extra })}\n\n`;
  const usage = { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 };
  const text = `${chunk({ delta })}${chunk({ delta: {}, finish_reason: 'tool_calls' }, { usage })}data: [DONE]\n\n`;
  return new Response(text, { headers: { 'content-type': 'text/event-stream' } });
}

function quiet(): Runtime {
  const none = () => Promise.reject(new Error('there are no files here'));
  return {
    ...{ incarnation: 'bench', strength: 'none', description: '', workspace: '/workspace', lost: new Promise<string>(() => undefined) },
    execute: async (action) => {
      const command = action.action === 'run' ? action.args.command : '';
      const observation = RunObservation.create(`${command}\n${'y'.repeat(OUTPUT_CHARS)}`, { command, metadata: { exit_code: 0 } });
      return { outcome: 'observed', observation };
    },
    output: async () => undefined,
    files: { list: none, read: none, write: none, checkpoints: none, compareCheckpoint: none, checkpointFile: none, linesToEdit: none },
  };
}
