import { isAction, isObservation, type Event } from '@tendon/protocol';
import { Secret } from '@tendon/protocol/masking';
import { expect, it } from 'vitest';
import { done, stage } from '../conversation/conversation.test-support.ts';
import type { LlmRequest } from '../llm/llm-provider.ts';
import type { ScriptedStep } from '../llm/scripted-provider.ts';
import type { Note, TakeNote } from './host-capabilities.ts';

const isNoted = (event: Event): boolean => isObservation(event) && event.tool_call_metadata?.function_name === 'note';

function script(note: Readonly<Record<string, unknown>>) {
  const seen: LlmRequest[] = [];
  const steps: readonly ScriptedStep[] = [{ toolCalls: [{ name: 'note', arguments: note }] }, done];
  return { seen, play: (asked: LlmRequest): ScriptedStep => (seen.push(asked), steps[seen.length - 1] ?? done) };
}

it('EN920: a note is a recall with what it is about, answered with the file, without secrets and without a sandbox', async () => {
  const { seen, play } = script({ about: 'user', text: 'Prefers pnpm, never topsecret-value.', old: 'Prefers npm.' });
  const taken: Note[] = [];
  const notes: TakeNote = async (note) => (taken.push(note), { ok: true, change: 'replaced', file: 'notes/user.md' });
  const { say, untilState, events, runtimes } = await stage({ script: play, notes, secrets: [new Secret('topsecret-value')] });
  await say('begin');
  await untilState('finished');
  const log = await events();
  expect(log.find((event) => isAction(event) && event.action === 'recall' && event.args.note)).toMatchObject({
    source: 'agent',
    args: { recall_type: 'default', note: { about: 'user', replaces: 'Prefers npm.' } },
  });
  expect(log.find(isNoted)).toMatchObject({
    observation: 'recall',
    source: 'environment',
    content: expect.stringContaining('Prefers pnpm') as string,
    extras: { recall_type: 'default', note: { about: 'user', file: 'notes/user.md' } },
  });
  expect(JSON.stringify([log, taken])).not.toContain('topsecret');
  const shown = seen[1]!.messages.findLast(({ role }) => role === 'tool')!.text;
  expect(shown).toMatch(/^Noted, in place of another line, about the user: Prefers pnpm/);
  expect(runtimes.started).toEqual([]);
});

it('EN920: what is refused is an error with the reason, also where nobody remembers', async () => {
  const answerWith = async (notes?: TakeNote) => {
    const { say, untilState, events } = await stage({ script: script({ about: 'user', text: 'x' }).play, ...(notes && { notes }) });
    await say('begin');
    await untilState('finished');
    return (await events()).find(isNoted);
  };
  expect(await answerWith(async () => ({ ok: false, problem: 'It is full.' }))).toMatchObject({
    observation: 'error',
    content: 'It is full.',
  });
  expect(await answerWith()).toMatchObject({ observation: 'error' });
});

it('EN920: a note that was written is reported also when the user stopped meanwhile', async () => {
  const [begun, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const notes: TakeNote = async () => {
    begun.resolve();
    await goOn.promise;
    return { ok: true, change: 'added', file: 'notes/user.md' };
  };
  const { say, submit, untilState, events } = await stage({ script: script({ about: 'user', text: 'x' }).play, notes });
  await say('begin');
  await begun.promise;
  await submit({ action: 'change_agent_state', args: { agent_state: 'stopped' } } as never);
  goOn.resolve();
  await untilState('stopped');
  expect((await events()).filter(isNoted)).toMatchObject([{ observation: 'recall' }]);
});
