import { execFileSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ChangeAgentStateAction, isObservation, McpObservation, type Event } from '@tendon/protocol';
import { expect, it } from 'vitest';
import { Seen } from '@tendon/testing';
import { codeActAgent } from '../agents/code-act-agent.ts';
import { done, outline, stage, temporaryFolder } from '../conversation/conversation.test-support.ts';
import { delegateTo } from '../tools/delegate.ts';
import { defineTool } from '../tools/define-tool.ts';
import { CallToolMcpAction } from '@tendon/protocol';
import type { LlmRequest } from '../llm/llm-provider.ts';
import type { ScriptedStep } from '../llm/scripted-provider.ts';
import { z } from 'zod';
import type { DelegatedTask, Delegation } from './host-capabilities.ts';

const view = (path: string) => ({ name: 'str_replace_editor', arguments: { command: 'view', path } });
const append = (path: string, words: string) => ({ name: 'execute_bash', arguments: { command: `echo ${words} >> ${path}` } });
const answers = (kind: string) => (event: Event) => isObservation(event) && event.observation === kind;
const stop = ChangeAgentStateAction.create({ agent_state: 'stopped' });

/** Pipes that a reader of hangs on until something is written. */
function pipes(count: number): readonly string[] {
  const folder = temporaryFolder();
  return Array.from({ length: count }, (_, index) => {
    const path = join(folder, `pipe${index}`);
    execFileSync('mkfifo', [path]);
    return path;
  });
}

/** What the last request showed of each call. */
function resultsIn({ messages }: LlmRequest): readonly string[] {
  return messages.flatMap((message) => (message.role === 'tool' ? [message.text] : []));
}

it('EN765: reads of one answer run side by side, and the model is shown their results in the order of its calls', async () => {
  const [slow, quick] = pipes(2) as [string, string];
  const seen: LlmRequest[] = [];
  const script = (asked: LlmRequest): ScriptedStep => {
    seen.push(asked);
    return seen.length === 1 ? { toolCalls: [view(slow), view(quick)] } : done;
  };
  const { say, until, untilState, events } = await stage({ script });
  await say('begin');
  // The second is answered while the first still waits.
  await writeFile(quick, 'second');
  const first = await until(answers('read'));
  expect(first).toMatchObject({ content: 'second' });
  await writeFile(slow, 'first');
  await untilState('finished');
  expect(resultsIn(seen[1]!)).toEqual(['first', 'second']);
  const [one, two] = (await events()).filter(answers('read'));
  expect(one!.cause! - two!.cause!).toBe(1);
});

it('EN765: what may change something waits for the reads before it, and those after it wait for that', async () => {
  const [pipe] = pipes(1) as [string];
  const file = join(temporaryFolder(), 'file');
  await writeFile(file, 'old\n');
  const calls = [view(file), view(pipe), append(file, 'new'), view(file), view(file)];
  const { say, untilState, events } = await stage({ script: [{ toolCalls: calls }, done] });
  await say('begin');
  await writeFile(pipe, 'go on');
  await untilState('finished');
  const contents = (await events()).flatMap((event) => (isObservation(event) && event.observation === 'read' ? [event.content] : []));
  expect(contents.toSorted()).toEqual(['go on', 'old', 'old\nnew', 'old\nnew']);
});

it('EN765: a stop cancels all of them, and each is answered once', async () => {
  const all = pipes(3);
  const { say, submit, until, untilState, events, runtimes } = await stage({ script: [{ toolCalls: all.map(view) }] });
  await say('begin');
  await writeFile(all[1]!, 'one of them');
  await until(answers('read'));
  expect(runtimes.started).toHaveLength(3);
  await submit(stop);
  await untilState('stopped');
  const log = await events();
  const actions = log.filter((event) => 'action' in event && event.action === 'read');
  expect(actions).toHaveLength(3);
  for (const { id } of actions) expect(log.filter(({ cause }) => cause === id)).toHaveLength(1);
});

it('EN765: when the sandbox dies under them each outcome is unknown, and none counts as not begun', async () => {
  const all = pipes(3);
  const { say, until, untilState, events, runtimes } = await stage({ script: [{ toolCalls: all.map(view) }, done] });
  await say('begin');
  await writeFile(all[1]!, 'one of them');
  await until(answers('read'));
  runtimes.kill();
  await untilState('finished');
  const ids = (await events()).flatMap((event) => (isObservation(event) && event.observation === 'error' ? [event.extras.error_id] : []));
  expect(ids).toEqual(['AGENT_ERROR$OUTCOME_UNKNOWN', 'AGENT_ERROR$OUTCOME_UNKNOWN']);
});

it('EN765: without a sandbox each is answered, and the state says it once', async () => {
  const { say, untilState, events, runtimes } = await stage({ script: [{ toolCalls: ['/a', '/b', '/c'].map(view) }] });
  runtimes.failStarts('there is no space');
  await say('begin');
  await untilState('error');
  const log = outline(await events());
  expect(log.filter((line) => line.startsWith('agent .error'))).toHaveLength(3);
  expect(log.filter((line) => line.endsWith(':error'))).toHaveLength(1);
});

it('EN765: calls of MCP servers run side by side', async () => {
  const parameters = z.object({ name: z.string() });
  const tool = defineTool({
    name: 'look',
    description: 'Looks.',
    parameters,
    needsSandbox: false,
    toAction: ({ name }) => CallToolMcpAction.create({ name: 'look', arguments: { name } }),
  });
  const called = new Seen<string>();
  const gate = Promise.withResolvers<void>();
  const external = {
    offered: async () => [tool],
    async call({ args }: { readonly args: { readonly arguments: Readonly<Record<string, unknown>> } }) {
      called.take(String(args.arguments.name));
      await gate.promise;
      return McpObservation.create(`saw ${String(args.arguments.name)}`, { name: 'look' });
    },
    close: async () => undefined,
  };
  const calls = ['a', 'b'].map((name) => ({ name: 'look', arguments: { name } }));
  const { say, untilState, events } = await stage({ external, script: [{ toolCalls: calls }, done] });
  await say('begin');
  await called.until((name) => name === 'a');
  await called.until((name) => name === 'b');
  gate.resolve();
  await untilState('finished');
  expect((await events()).filter(answers('mcp'))).toMatchObject([{ content: 'saw a' }, { content: 'saw b' }]);
});

it('EN765: delegates run side by side, and what each cost is added', async () => {
  const agent = { ...codeActAgent, tools: [...codeActAgent.tools, delegateTo([])] };
  const begun = new Seen<string>();
  const ends = new Map<string, (done: Delegation) => void>();
  const ask = (work: DelegatedTask): Promise<Delegation> =>
    new Promise((resolve) => {
      ends.set(work.task, resolve);
      begun.take(work.task);
    });
  const calls = ['a', 'b'].map((task) => ({ name: 'delegate', arguments: { task } }));
  const { say, until, untilState, events } = await stage({ agent, delegate: ask, script: [{ costUsd: 1, toolCalls: calls }, done] });
  await say('begin');
  await begun.until((task) => task === 'b');
  ends.get('b')!({ ok: true, report: 'b is done', outputs: {}, costUsd: 2 });
  await until(answers('delegate'));
  ends.get('a')!({ ok: true, report: 'a is done', outputs: {}, costUsd: 4 });
  await untilState('finished');
  const reports = (await events()).filter(answers('delegate'));
  expect(reports).toMatchObject([
    { content: 'b is done', llm_metrics: { accumulated_cost: 3 } },
    { content: 'a is done', llm_metrics: { accumulated_cost: 7 } },
  ]);
});
