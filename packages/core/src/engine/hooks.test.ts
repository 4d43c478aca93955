import { existsSync } from 'node:fs';
import { join } from 'node:path';
import {
  CallToolMcpAction,
  ChangeAgentStateAction,
  CondensationRequestAction,
  isAction,
  isObservation,
  McpObservation,
  type Event,
} from '@tendon/protocol';
import { waitFor } from '@tendon/testing';
import { expect, it } from 'vitest';
import { bash, done, ID, outline, stage, systemClock, temporaryFolder } from '../conversation/conversation.test-support.ts';
import { createHostRuntimes } from '../conversation/host-runtimes.test-support.ts';
import type { LlmRequest } from '../llm/llm-provider.ts';
import type { ScriptedStep } from '../llm/scripted-provider.ts';
import { legalityProblems } from '../prompt/legal-request.test-support.ts';
import { projectMessages } from '../prompt/project-messages.test-support.ts';
import { codeActAgent } from '../agents/code-act-agent.ts';
import { createMemoryStorage } from '../storage/index.ts';
import type { HookMoment, HookEvent, HookAnswer, Hooks, ExternalTools } from './host-capabilities.ts';

const GOES_ON: HookAnswer = { decision: 'go_on', reason: '', words: [], problems: [] };
const blocks = (reason: string): HookAnswer => ({ ...GOES_ON, decision: 'block', reason });

type Says = (event: HookEvent, count: number) => Partial<HookAnswer> | Promise<Partial<HookAnswer>>;

/** Answers as the functions say, and what was asked. */
function hooksThat(says: Partial<Record<HookMoment, Says>>): { readonly hooks: Hooks; readonly asked: HookEvent[] } {
  const asked: HookEvent[] = [];
  const hooks: Hooks = {
    refresh: async () => undefined,
    has: (moment) => says[moment] !== undefined,
    async run(event) {
      asked.push(event);
      const count = asked.filter(({ moment }) => moment === event.moment).length;
      return { ...GOES_ON, ...(await says[event.moment]!(event, count)) };
    },
  };
  return { hooks, asked };
}

function model(steps: readonly ScriptedStep[]) {
  const seen: LlmRequest[] = [];
  const script = (request: LlmRequest): ScriptedStep => {
    seen.push(request);
    return steps[seen.length - 1] ?? done;
  };
  return { seen, script };
}

const errors = (log: readonly Event[], id: string): readonly Event[] =>
  log.filter((event) => isObservation(event) && event.observation === 'error' && event.extras.error_id === id);

it('EX901: an action that a hook blocks is refused with the reason, in every mode, and the rest of the answer runs', async () => {
  for (const mode of ['always', 'never'] as const) {
    const { hooks, asked } = hooksThat({
      before_action: ({ action }) =>
        JSON.stringify(action!.args).includes('touch no') ? blocks('the hook “guard” blocks it: not here') : {},
    });
    const { script, seen } = model([{ toolCalls: [...bash('touch no').toolCalls, ...bash('touch yes').toolCalls] }, done]);
    const on = await stage({ script, hooks, settings: { confirmation: () => ({ mode, rules: [], analyzer: 'rules' }) } });
    await on.say('begin');
    if (mode === 'always') {
      await on.untilState('awaiting_user_confirmation');
      await on.submit(ChangeAgentStateAction.create({ agent_state: 'user_confirmed' }));
    }
    await on.untilState('finished');
    expect(asked.map(({ action }) => action?.action)).toEqual(['run', 'run']);
    expect([existsSync(join(on.folder, 'no')), existsSync(join(on.folder, 'yes'))]).toEqual([false, true]);
    const log = await on.events();
    const refused = log.find((event) => isAction(event) && event.action === 'run' && event.args.command === 'touch no');
    expect(refused).toMatchObject({ args: { confirmation_state: 'rejected' } });
    expect(JSON.stringify(seen.at(-1)!.messages)).toContain('the hook “guard” blocks it: not here');
    expect(legalityProblems(projectMessages(log, codeActAgent))).toEqual([]);
  }
});

it('EX901: an action that a hook asks about waits for a person where nothing else asks, and is refused where nobody is there', async () => {
  const before_action = () => ({ decision: 'ask', reason: 'the hook “guard” asks: sure?' }) as const;
  const { script } = model([bash('touch made'), done]);
  const on = await stage({ script, hooks: hooksThat({ before_action }).hooks });
  await on.say('begin');
  await on.untilState('awaiting_user_confirmation');
  expect(existsSync(join(on.folder, 'made'))).toBe(false);
  await on.submit(ChangeAgentStateAction.create({ agent_state: 'user_confirmed' }));
  await on.untilState('finished');
  expect(existsSync(join(on.folder, 'made'))).toBe(true);
  const confirmation = () => ({ mode: 'never', rules: [], analyzer: 'rules', isUnattended: true }) as const;
  const alone = await stage({
    script: model([bash('touch made'), done]).script,
    hooks: hooksThat({ before_action }).hooks,
    settings: { confirmation },
  });
  await alone.say('begin');
  await alone.untilState('finished');
  expect(existsSync(join(alone.folder, 'made'))).toBe(false);
  const [refusal] = errors(await alone.events(), 'AGENT_ERROR$ACTION_NOT_EXECUTED');
  expect(refusal).toMatchObject({ content: expect.stringContaining('sure?, and nobody is there to decide') as string });
});

it('TR910: hooks are asked about a command as a person changed it: one that blocks refuses it, one that asks is answered by the approval', async () => {
  const { hooks, asked } = hooksThat({
    before_action({ action }) {
      const text = JSON.stringify(action!.args);
      if (text.includes('touch no')) return blocks('the hook “guard” blocks it: not here');
      return { decision: 'ask', reason: 'the hook “guard” asks: sure?', words: ['mind the rest'] };
    },
  });
  const { script, seen } = model([bash('touch one'), done]);
  const on = await stage({ script, hooks });
  const approve = (edited: string) => on.submit(ChangeAgentStateAction.create({ agent_state: 'user_confirmed', edited }));
  await on.say('begin');
  await on.untilState('awaiting_user_confirmation');
  expect(await approve('touch no')).toMatchObject({
    ok: false,
    error: { code: 'EDIT_DENIED', message: expect.stringContaining('blocks it: not here') as string },
  });
  expect(await approve('touch two')).toMatchObject({ ok: true });
  await on.untilState('finished');
  expect(['no', 'one', 'two'].map((name) => existsSync(join(on.folder, name)))).toEqual([false, false, true]);
  expect(asked).toHaveLength(3);
  expect(JSON.stringify(seen.at(-1)!.messages).split('mind the rest')).toHaveLength(3);
  expect(legalityProblems(projectMessages(await on.events(), codeActAgent))).toEqual([]);
});

it('TR910: a conversation that closes before its hooks have answered takes no changed action', async () => {
  const begun = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<Partial<HookAnswer>>();
  const { hooks } = hooksThat({
    before_action({ action }) {
      if (!JSON.stringify(action!.args).includes('two')) return { decision: 'ask', reason: 'sure?' };
      begun.resolve();
      return ended.promise;
    },
  });
  const on = await stage({ script: [bash('touch one'), done], hooks });
  await on.say('begin');
  await on.untilState('awaiting_user_confirmation');
  const before = await on.events();
  const approved = on.submit(ChangeAgentStateAction.create({ agent_state: 'user_confirmed', edited: 'touch two' }));
  await waitFor(begun.promise, () => 'the hook');
  const closed = on.conversation.close();
  // Its programs are ended, and one that is ended says nothing against it.
  ended.resolve({ problems: ['The hook “guard” failed.'] });
  expect(await approved).toMatchObject({ ok: false, error: { code: 'ILLEGAL_STATE' } });
  await closed;
  expect(await on.events()).toEqual(before);
});

it('EX902: what failed of a hook is a notice in the log, and blocks nothing', async () => {
  const { hooks } = hooksThat({ before_action: () => ({ problems: ['The hook “guard” failed.'] }) });
  const on = await stage({ script: model([bash('touch made'), done]).script, hooks });
  await on.say('begin');
  await on.untilState('finished');
  expect(existsSync(join(on.folder, 'made'))).toBe(true);
  expect(errors(await on.events(), 'AGENT_ERROR$HOOK_FAILED')).toMatchObject([{ content: 'The hook “guard” failed.' }]);
});

it('EX903: after an action the model is shown what a hook says, behind the result, which stays as it is', async () => {
  const { hooks, asked } = hooksThat({ after_action: () => ({ words: ['[Hook “lint”]\n2 problems'] }) });
  const { seen, script } = model([{ toolCalls: [...bash('echo one').toolCalls, ...bash('echo two').toolCalls] }, done]);
  const on = await stage({ script, hooks });
  await on.say('begin');
  await on.untilState('finished');
  expect(asked.map(({ observation }) => observation?.content.trim())).toEqual(['one', 'two']);
  const log = await on.events();
  const results = log.filter((event) => isObservation(event) && event.observation === 'run');
  expect(results).toMatchObject([{ content: expect.not.stringContaining('Hook') as string }, {}]);
  expect(log.find(({ id }) => id === results[0]!.id + 1)).toMatchObject({ observation: 'success', extras: { hook: 'after_action' } });
  expect(JSON.stringify(seen[1]!.messages)).toContain('2 problems');
  expect(legalityProblems(projectMessages(log, codeActAgent))).toEqual([]);
});

it('EX904: a hook sends the agent that wants to finish back to work, with its reason, five times at most', async () => {
  const { hooks, asked } = hooksThat({ stop: (_, count) => (count === 1 ? blocks('the hook “tests” blocks it: run them') : {}) });
  const { seen, script } = model([done, bash('touch ran'), done]);
  const on = await stage({ script, hooks });
  await on.say('begin');
  await on.untilState('finished');
  expect(asked).toHaveLength(2);
  expect(existsSync(join(on.folder, 'ran'))).toBe(true);
  expect(JSON.stringify(seen[1]!.messages)).toContain('the hook “tests” blocks it: run them');

  const stubborn = hooksThat({ stop: () => blocks('never') });
  const held = await stage({ script: model([]).script, hooks: stubborn.hooks });
  await held.say('begin');
  await held.untilState('finished');
  expect(stubborn.asked).toHaveLength(5);
  await held.say('again');
  await held.untilState('finished', (await held.events()).length);
  expect(stubborn.asked).toHaveLength(10);
});

it('EX904: the checks of the user run first, and again after a refusal', async () => {
  const { hooks } = hooksThat({ stop: (_, count) => (count === 1 ? blocks('not yet') : {}) });
  const on = await stage({ script: model([done, done]).script, hooks, settings: { finishChecks: ['echo checked'] } });
  await on.say('begin');
  await on.untilState('finished');
  const log = await on.events();
  expect(outline(log.slice(log.findIndex((event) => isAction(event) && event.action === 'finish')))).toEqual([
    'agent finish',
    'environment run',
    expect.stringMatching(/^environment \.run/),
    'environment .error',
    'agent finish',
    'environment run',
    expect.stringMatching(/^environment \.run/),
    'environment .agent_state_changed:finished',
  ]);
});

it('EX905: the hooks of the start run once, before the first answer, and what they say is shown to the model', async () => {
  const log = await createMemoryStorage({ clock: systemClock }).events.open(ID);
  const { hooks, asked } = hooksThat({ session_start: () => ({ words: ['[Hook “facts”]\nit is friday'] }) });
  const { seen, script } = model([done, done]);
  const first = await stage({ script, hooks, log });
  await first.say('begin');
  await first.untilState('finished');
  expect(JSON.stringify(seen[0]!.messages)).toContain('it is friday');
  await first.conversation.close();
  const next = await stage({ script, hooks, log });
  await next.say('again');
  await next.untilState('finished', (await next.events()).length);
  expect(asked).toHaveLength(1);
});

it('EX905: a hook that blocks the start ends in the state error with its reason, and the next message tries again', async () => {
  const { hooks } = hooksThat({ session_start: (_, count) => (count === 1 ? blocks('the hook “hours” blocks it: not at night') : {}) });
  const { seen, script } = model([done]);
  const on = await stage({ script, hooks });
  await on.say('begin');
  await on.untilState('error');
  expect(on.conversation.state.reason).toContain('not at night');
  expect(seen).toHaveLength(0);
  await on.say('now');
  await on.untilState('finished');
});

it('EX906: a hook can refuse that the conversation is made shorter', async () => {
  const { hooks, asked } = hooksThat({ before_compaction: () => blocks('the hook “save” blocks it: not saved') });
  const on = await stage({ script: model([done]).script, hooks });
  await on.say('begin');
  await on.untilState('finished');
  await on.submit(CondensationRequestAction.create({}));
  await on.until((event) => isObservation(event) && event.observation === 'error' && event.content.includes('not saved'));
  expect(asked).toHaveLength(1);
  expect((await on.events()).some((event) => isAction(event) && event.action === 'condensation')).toBe(false);
});

it('EX907: a process that goes on from the log asks again the hooks that the earlier one did not hear to the end', async () => {
  for (const moment of ['session_start', 'before_action', 'after_action', 'stop'] as const) {
    const log = await createMemoryStorage({ clock: systemClock }).events.open(ID);
    const folder = temporaryFolder();
    const runtimes = createHostRuntimes(folder);
    const begun = Promise.withResolvers<void>();
    const over = Promise.withResolvers<Partial<HookAnswer>>();
    const words = { words: ['[Hook “late”]\nhello'] };
    const { hooks } = hooksThat({ [moment]: () => (begun.resolve(), over.promise) });
    const first = await stage({ script: model([bash('echo ran >> counted')]).script, hooks, log, folder, runtimes });
    await first.say('begin');
    await waitFor(begun.promise, () => moment);
    const closing = first.conversation.close();
    over.resolve({ ...words, problems: ['it was ended'] });
    await closing;
    const again = hooksThat({ [moment]: () => words });
    const steps = moment === 'after_action' || moment === 'stop' ? [] : [bash('echo ran >> counted')];
    const next = await stage({ script: model(steps).script, hooks: again.hooks, log, folder, runtimes });
    next.conversation.wake();
    await next.untilState('finished');
    expect(again.asked, moment).toHaveLength(1);
    const notices = (await next.events()).filter((event) => isObservation(event) && event.content.includes('hello'));
    expect(notices, moment).toHaveLength(1);
    expect((await next.events()).filter((event) => isObservation(event) && event.observation === 'run')).toHaveLength(1);
  }
});

it('EX907: what a call of an MCP tool gave is in the log, though the process ends while a hook is asked about it', async () => {
  const log = await createMemoryStorage({ clock: systemClock }).events.open(ID);
  let calls = 0;
  const external: ExternalTools = {
    offered: async () => [
      {
        spec: { name: 'book', description: 'Books.', parameters: { type: 'object', properties: {} } },
        needsSandbox: false,
        toAction: () => ({ ok: true, action: CallToolMcpAction.create({ name: 'book', arguments: {} }) }) as const,
      },
    ],
    call: async () => ((calls += 1), McpObservation.create('booked Oslo', { name: 'book', arguments: {} })),
    close: async () => undefined,
  };
  const begun = Promise.withResolvers<void>();
  const over = Promise.withResolvers<Partial<HookAnswer>>();
  const { hooks } = hooksThat({ after_action: () => (begun.resolve(), over.promise) });
  const first = await stage({ script: model([{ toolCalls: [{ name: 'book', arguments: {} }] }]).script, hooks, log, external });
  await first.say('begin');
  await waitFor(begun.promise, () => 'the hook');
  const closing = first.conversation.close();
  over.resolve({ problems: ['it was ended'] });
  await closing;
  const next = await stage({ script: model([]).script, log, external });
  next.conversation.wake();
  await next.untilState('finished');
  const text = JSON.stringify(await next.events());
  expect([text.includes('booked Oslo'), text.includes('outcome was not stored'), calls]).toEqual([true, false, 1]);
});
