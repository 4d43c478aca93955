import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CallToolMcpAction, catalogError, CondensationRequestAction, isAction, isObservation, McpObservation } from '@tendon/protocol';
import { expect, it } from 'vitest';
import {
  bash,
  done,
  ID,
  isSummaryRequest,
  outline,
  stage,
  systemClock,
  temporaryFolder,
} from '../conversation/conversation.test-support.ts';
import type { LlmProvider, LlmRequest } from '../llm/llm-provider.ts';
import { createScriptedProvider, type Script } from '../llm/scripted-provider.ts';
import { createMemoryStorage } from '../storage/index.ts';
import type { ExternalTools } from './host-capabilities.ts';

const CONTEXT_WINDOW = 200_000;
/** More than four times the window. */
const PASTED = `why does this fail?\n${Array.from({ length: 90_000 }, (_, n) => `log line ${n}\n`).join('')}that was all of it`;

/** A model that refuses what does not fit its window, as real ones do; what it was asked is in `asked`. */
function strictModel(script: Script): { readonly provider: LlmProvider; readonly asked: LlmRequest[] } {
  const asked: LlmRequest[] = [];
  const scripted = createScriptedProvider(script, { clock: systemClock });
  const provider: LlmProvider = {
    ...scripted,
    contextWindow: CONTEXT_WINDOW,
    async *stream(request, options) {
      asked.push(request);
      const chars = JSON.stringify(request.messages).length;
      if (chars > CONTEXT_WINDOW * 4)
        yield { type: 'failed', failure: { error: catalogError('LLM_CONTEXT_EXCEEDED', `${chars} characters`), retryable: false } };
      else yield* scripted.stream(request, options);
    },
  };
  return { provider, asked };
}

function textOf({ messages }: LlmRequest): string {
  return messages.map(({ text }) => text).join('\n\n');
}

function filesIn(folder: string): readonly string[] {
  return readdirSync(join(folder, '.tendon/messages'));
}

const hello = { text: 'Hello.' };

it('EN206: a message larger than the window is shown with its beginning, its end and a file of the workspace that has all of it', async () => {
  const { provider, asked } = strictModel([hello, bash('wc -c < .tendon/messages/*'), done]);
  const { say, untilState, events, folder, until } = await stage({ provider });
  execFileSync('git', ['init', '-q', folder]);
  await say(PASTED);
  const { id } = await untilState('awaiting_user_input', 4);
  await say('never mind, forget the log');
  await untilState('finished', id + 1);
  expect(asked).toHaveLength(3);
  const text = textOf(asked[0]!);
  expect(text.length).toBeLessThan(40_000);
  for (const part of [
    'why does this fail?\nlog line 0',
    'log line 89999\nthat was all of it',
    'characters of this message are left out here',
  ]) {
    expect(text).toContain(part);
  }
  const [file, ...others] = filesIn(folder);
  expect(others).toEqual([]);
  expect(text).toContain(`/workspace/.tendon/messages/${file}`);
  expect(readFileSync(join(folder, '.tendon/messages', file!), 'utf8')).toBe(PASTED);
  // The agent can read it, the log and the clients have the whole message, and git ignores it.
  const run = await until((event) => 'observation' in event && event.observation === 'run');
  expect(run).toMatchObject({ content: String(Buffer.byteLength(PASTED)) });
  expect((await events()).filter((event) => isAction(event) && event.action === 'message')[0]).toMatchObject({ args: { content: PASTED } });
  expect(execFileSync('git', ['-C', folder, 'status', '--porcelain'], { encoding: 'utf8' })).toBe('');
});

it('EN206: what fits into an eighth of the window is shown whole, and no file is made', async () => {
  const { provider, asked } = strictModel([hello]);
  const { say, untilState, folder } = await stage({ provider });
  const words = 'a long story '.repeat(7_000);
  await say(words);
  await untilState('awaiting_user_input', 4);
  expect(textOf(asked[0]!)).toContain(words);
  expect(readdirSync(folder)).toEqual([]);
});

it('EN206: a file that cannot be written is reported, once, to the user and to the model', async () => {
  const { provider, asked } = strictModel([hello, hello]);
  const { say, untilState, runtimes, events } = await stage({ provider });
  runtimes.failStarts('the disk of the sandbox is full');
  await say(PASTED);
  const { id } = await untilState('awaiting_user_input', 4);
  await say('and now?');
  await untilState('awaiting_user_input', id + 1);
  const notice =
    /^\[Notice\]\nThe file \/workspace\/\.tendon\/messages\/\d+-\w+\.txt, .* could not be written: the disk of the sandbox is full$/gm;
  expect(asked.map((request) => textOf(request).match(notice)?.length)).toEqual([1, 1]);
  expect(outline(await events()).filter((line) => line === 'environment .error')).toHaveLength(1);
});

it('EN206: after a restart an existing file is left alone, and a missing one is written again', async () => {
  const log = await createMemoryStorage({ clock: systemClock }).events.open(ID);
  const folder = temporaryFolder();
  for (const state of ['new', 'existing', 'gone']) {
    const { provider } = strictModel([hello, hello, hello]);
    const { conversation, say, untilState } = await stage({ provider, log, folder });
    const from = log.nextId;
    await say(state === 'new' ? PASTED : 'go on');
    await untilState('awaiting_user_input', from + 1);
    const path = join(folder, '.tendon/messages', filesIn(folder)[0]!);
    expect(readFileSync(path, 'utf8')).toBe(state === 'existing' ? 'notes' : PASTED);
    if (state === 'new') writeFileSync(path, 'notes');
    else rmSync(path);
    await conversation.close();
  }
});

it('EN207: a condensation leaves an excerpt of a long message, and the summary is made from all of it', async () => {
  const steps = [...Array.from({ length: 6 }, (_, n) => bash(`echo step ${n}`)), done, done];
  const { provider, asked } = strictModel((request) => (isSummaryRequest(request) ? { text: 'In short.' } : (steps.shift() ?? done)));
  const { say, submit, until, untilState, folder } = await stage({ provider });
  const words = `read this: ${'a long story '.repeat(2_000)} the end`;
  await say(words);
  await untilState('finished');
  expect(textOf(asked[0]!)).toContain(words);
  await submit(CondensationRequestAction.create({}));
  const condensation = await until((event) => isAction(event) && event.action === 'condensation');
  await say('go on');
  await untilState('finished', condensation.id);
  expect(textOf(asked.find(isSummaryRequest)!)).toContain('read this: a long story');
  const text = textOf(asked.at(-1)!);
  expect(text).not.toContain(words);
  expect(text).toMatch(/read this: a long story .*\[\.\.\. \d+ characters of this message are left out here\. .*the end/s);
  expect(text.length).toBeLessThan(20_000);
  expect(readFileSync(join(folder, '.tendon/messages', filesIn(folder)[0]!), 'utf8')).toBe(words);
});

const ROWS = Array.from({ length: 20_000 }, (_, n) => `row ${n}`).join('\n');
const list: ExternalTools = {
  offered: async () => [
    {
      spec: { name: 'list', description: 'Lists.', parameters: { type: 'object', properties: {} } },
      needsSandbox: false,
      toAction: () => ({ ok: true, action: CallToolMcpAction.create({ name: 'list', arguments: {} }) }),
    },
  ],
  call: async () => McpObservation.create(ROWS, { name: 'list', arguments: {} }),
  close: async () => undefined,
};

it('EN965: of a long result of an MCP tool both ends are shown, and a file that has all of it; where it is gone it is written again', async () => {
  const log = await createMemoryStorage({ clock: systemClock }).events.open(ID);
  const whole = `<outside_text source="MCP tool list">\n${ROWS}\n</outside_text>`;
  const again = [bash('true'), hello];
  const steps = [{ toolCalls: [{ name: 'list', arguments: {} }] }, hello, ...again, hello, ...again];
  for (let opened = 0; opened < 2; opened += 1) {
    const { provider, asked } = strictModel(steps);
    const { conversation, say, untilState, folder, runtimes } = await stage({ provider, log, external: list });
    const task = async (words: string): Promise<void> => {
      const from = Math.max(log.nextId, 3);
      await say(words);
      await untilState('awaiting_user_input', from + 1);
    };
    await task('list them');
    const { text } = asked.at(-1)!.messages.find(({ role }) => role === 'tool')!;
    expect(text.length).toBeLessThanOrEqual(30_000);
    expect(text).toMatch(/^<outside_text source="MCP tool list">\nrow 0\n.*row 19999\n<\/outside_text>$/s);
    const [, file = ''] = /characters of this result are left out here\. All of it is in the file (~\/\.cache\/tendon\/output\/\S+) /.exec(
      text,
    )!;
    expect(readFileSync(join(folder, file), 'utf8')).toBe(whole);
    rmSync(join(folder, file));
    runtimes.kill();
    await task('again');
    expect(readFileSync(join(folder, file), 'utf8')).toBe(whole);
    await conversation.close();
  }
  const [result] = (await log.read({ from: 0 })).filter((event) => isObservation(event) && event.observation === 'mcp');
  expect(result).toMatchObject({ content: ROWS });
});
