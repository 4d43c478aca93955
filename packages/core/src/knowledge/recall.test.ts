import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { RecallAction, type Event } from '@tendon/protocol';
import { expect, it } from 'vitest';
import { bash, done, stage, temporaryFolder } from '../conversation/conversation.test-support.ts';
import { createHostRuntimes } from '../conversation/host-runtimes.test-support.ts';
import { codeActAgent } from '../agents/code-act-agent.ts';
import { projectMessages } from '../prompt/project-messages.test-support.ts';

function workspace(files: Readonly<Record<string, string>>): string {
  const folder = temporaryFolder();
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(folder, dirname(path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return folder;
}

const KNOWN = {
  '.openhands/microagents/repo.md': 'Indent with tabs.',
  '.openhands/microagents/deep/db.md': '---\nname: database\ntriggers: [Postgres]\n---\nAsk before you migrate.',
  'AGENTS.md': 'Run make check.',
};

const recalls = (events: readonly Event[]) =>
  events.flatMap((event) => ('observation' in event && event.observation === 'recall' ? [event] : []));

it('EN122: the first message is answered with what the workspace holds and what its words bring; the model sees it', async () => {
  const { say, untilState, events } = await stage({ folder: workspace(KNOWN), script: [done] });
  await say('Move us to postgres please');
  await untilState('finished');
  const [found, ...more] = recalls(await events());
  expect(more).toEqual([]);
  expect(found).toMatchObject({
    source: 'environment',
    cause: 4,
    extras: {
      recall_type: 'workspace_context',
      repo_instructions: 'Run make check.\n\nIndent with tabs.',
      working_dir: '/workspace',
      microagent_knowledge: [{ name: 'database', trigger: 'Postgres', content: 'Ask before you migrate.' }],
    },
  });
  const shown = projectMessages(await events(), codeActAgent).flatMap((message) => (message.role === 'user' ? [message.text] : []));
  expect(shown.join('\n')).toMatch(/Indent with tabs[\s\S]*Ask before you migrate/);
});

it('EN123: a later message brings what its words trigger, once; without a trigger nothing is shown', async () => {
  const { say, untilState, events } = await stage({ folder: workspace(KNOWN), script: [done, done, done, done] });
  let from = 0;
  for (const text of ['hello', 'POSTGRES is slow', 'postgres again', 'thanks']) {
    await say(text);
    from = (await untilState('finished', from)).id + 1;
  }
  expect(recalls(await events()).map(({ extras }) => extras.microagent_knowledge.map(({ name }) => name))).toEqual([[], ['database']]);
});

it('EN124: the user’s own microagents count too; one of the workspace with the same name comes first', async () => {
  const own = { type: 'knowledge', triggers: ['tabs', 'postgres'], inputs: [], tools: [] } as const;
  const microagents = async () => [
    { ...own, triggers: [...own.triggers], inputs: [], tools: [], name: 'database', content: 'mine' },
    { ...own, triggers: [...own.triggers], inputs: [], tools: [], name: 'style', content: 'No trailing blanks.' },
  ];
  const { say, untilState, events } = await stage({ folder: workspace(KNOWN), knowledge: { microagents }, script: [done] });
  await say('postgres with tabs');
  await untilState('finished');
  const contents = recalls(await events())[0]!.extras.microagent_knowledge.map(({ content }) => content);
  expect(contents).toEqual(['Ask before you migrate.', 'No trailing blanks.']);
});

it('EN125: without a sandbox the message is answered all the same, and the log says what is missing', async () => {
  const folder = temporaryFolder();
  const runtimes = createHostRuntimes(folder);
  const acquire = async (): Promise<never> => {
    throw new Error('no bubblewrap');
  };
  const { say, untilState, events } = await stage({ folder, runtimes: { ...runtimes, acquire }, script: [done] });
  await say('begin');
  await untilState('finished');
  expect(recalls(await events())[0]).toMatchObject({ content: expect.stringContaining('no bubblewrap') as string });
});

it('EN125: a sandbox that never starts does not hold back the model', async () => {
  const folder = temporaryFolder();
  const runtimes = createHostRuntimes(folder);
  const acquire = () => new Promise<never>(() => undefined);
  const clock = { now: () => new Date(), sleep: async () => undefined };
  const { say, untilState, events } = await stage({ folder, clock, runtimes: { ...runtimes, acquire }, script: [done] });
  await say('begin');
  await untilState('finished');
  expect(recalls(await events())[0]).toMatchObject({ content: expect.stringContaining('not there yet') as string });
});

/** Waits for the sandbox are over at once, until it comes. */
function slowSandbox(folder: string) {
  const runtimes = createHostRuntimes(folder);
  const { promise: here, resolve } = Promise.withResolvers<void>();
  let isHere = false;
  return {
    runtimes: { ...runtimes, acquire: (...args: Parameters<typeof runtimes.acquire>) => here.then(() => runtimes.acquire(...args)) },
    clock: { now: () => new Date(), sleep: () => (isHere ? new Promise<never>(() => undefined) : Promise.resolve()) },
    come(): void {
      isHere = true;
      resolve();
    },
  };
}

const CONTEXT = {
  recall_type: 'workspace_context',
  repo_instructions: 'Run make check.\n\nIndent with tabs.',
  microagent_knowledge: [{ name: 'database', trigger: 'Postgres', content: 'Ask before you migrate.' }],
};

it('EN215: knowledge that could not be read at the first message comes with the next, once, to clients and the model', async () => {
  const folder = workspace(KNOWN);
  const { come, ...slow } = slowSandbox(folder);
  const { say, untilState, events } = await stage({ folder, ...slow, script: () => ({ text: 'ok' }) });
  const next = async (text: string): Promise<void> => {
    const from = (await events()).length;
    await say(text);
    await untilState('awaiting_user_input', from);
  };
  const modelSees = async () => JSON.stringify(projectMessages(await events(), codeActAgent));
  await next('Move us to postgres please');
  await next('and hurry');
  expect(recalls(await events()).map(({ extras }) => [extras.recall_type, extras.missing])).toEqual([
    ['workspace_context', 'the sandbox is not there yet'],
    ['workspace_context', 'the sandbox is not there yet'],
  ]);
  expect(await modelSees()).toContain('could not be read yet (the sandbox is not there yet)');
  come();
  await next('go on');
  expect(recalls(await events()).slice(2)).toMatchObject([{ extras: CONTEXT }]);
  expect(recalls(await events())[2]!.extras).not.toHaveProperty('missing');
  expect(await modelSees()).toMatch(/Run make check[\s\S]*Ask before you migrate/);
  await next('postgres, as before');
  expect(recalls(await events())).toHaveLength(3);
});

it('EN215: the next process delivers it, too', async () => {
  const folder = workspace(KNOWN);
  const first = await stage({ folder, ...slowSandbox(folder), script: [{ text: 'ok' }] });
  await first.say('Move us to postgres please');
  await first.untilState('awaiting_user_input', 5);
  await first.conversation.close();
  const { say, untilState, events } = await stage({ folder, log: first.conversation.log, script: [{ text: 'ok' }, done] });
  await say('go on');
  await untilState('finished');
  expect(recalls(await events()).slice(1)).toMatchObject([{ extras: CONTEXT }]);
});

it('EN126: a question to the memory is answered with microagents and the conversation’s own messages, and wakes nobody', async () => {
  const { say, submit, untilState, until, events, conversation } = await stage({ folder: workspace(KNOWN), script: [done] });
  await say('The blue whale lives in the staging cluster');
  await untilState('finished');
  const asked = await submit(RecallAction.create({ query: 'whale cluster' }));
  const cause = asked.ok ? asked.event.id : -1;
  expect(await until((event) => event.cause === cause)).toMatchObject({
    observation: 'recall',
    content: '[3] user: The blue whale lives in the staging cluster',
    extras: { query: 'whale cluster', microagent_knowledge: [] },
  });
  const named = await submit(RecallAction.create({ query: 'database' }));
  expect(named.ok).toBe(true);
  expect(recalls(await events()).at(-1)).toMatchObject({ extras: { microagent_knowledge: [{ name: 'database', trigger: '' }] } });
  expect(conversation.state.agentState).toBe('finished');
});

it('EN127: a message while an action waits for a verdict is answered at once', async () => {
  const { say, untilState, events } = await stage({
    folder: workspace(KNOWN),
    settings: { confirmation: () => ({ mode: 'rules', rules: [], analyzer: 'rules' }) },
    script: [bash('true')],
  });
  await say('begin');
  await untilState('awaiting_user_confirmation');
  await say('mind postgres');
  expect(recalls(await events()).at(-1)).toMatchObject({ extras: { recall_type: 'knowledge' } });
});

it('EN128: in an empty workspace the model does not wait for the sandbox', async () => {
  const folder = temporaryFolder();
  const runtimes = createHostRuntimes(folder);
  const acquire = () => new Promise<never>(() => undefined);
  const never = { now: () => new Date(), sleep: () => new Promise<never>(() => undefined) };
  const isWorkspaceEmpty = async () => true;
  const { say, untilState, events } = await stage({
    folder,
    clock: never,
    runtimes: { ...runtimes, acquire, isWorkspaceEmpty },
    script: [done],
  });
  await say('begin');
  await untilState('finished');
  expect(recalls(await events())[0]).toMatchObject({ content: expect.not.stringContaining('not there yet') as string });
});
