import { catalogError, ChangeAgentStateAction, isAction } from '@tendon/protocol';
import { expect, it } from 'vitest';
import { Secret } from '@tendon/protocol/masking';
import { bash, done, gated, ID, outline, stage, systemClock, watchAppends } from '../conversation/conversation.test-support.ts';
import { createScriptedProvider } from '../llm/scripted-provider.ts';
import { withRetries } from '../llm/with-retries.ts';
import { stateChanged } from './notices.ts';
import { createMemoryStorage } from '../storage/index.ts';

const resume = ChangeAgentStateAction.create({ agent_state: 'running' });

it('EN80: a step waits for two appends: the answer, the observation', async () => {
  const log = await createMemoryStorage({ clock: systemClock }).events.open(ID);
  const batches: number[] = [];
  const counting = watchAppends(log, (drafts) => batches.push(drafts.length));
  const { say, untilState } = await stage({ log: counting, script: [bash('true'), bash('true'), bash('true'), done] });
  await say('begin');
  await untilState('finished');
  // Before the first step: the introduction, the message, and what is recalled for it when that was not known at once.
  expect(batches.slice(-7)).toEqual([1, 1, 1, 1, 1, 1, 2]);
});

it('EN81: the calls of one answer are appended together and carried out in order', async () => {
  const thought = { name: 'think', arguments: { thought: 'hm' } };
  const calls = [...bash('echo 1 >> n').toolCalls, thought, ...bash('echo 2 >> n; cat n').toolCalls, ...done.toolCalls];
  const { say, untilState, events } = await stage({ script: [{ text: 'both', toolCalls: calls }] });
  await say('begin');
  await untilState('finished');
  const log = await events();
  expect(outline(log).slice(7)).toEqual([
    'agent run',
    'agent think',
    'agent .think<8',
    'agent run',
    'agent finish',
    'agent .run<7',
    'agent .run<10',
    'environment .agent_state_changed:finished',
  ]);
  expect(log[13]).toMatchObject({ content: '1\n2', tool_call_metadata: { total_calls_in_response: 4 } });
  expect(log[7]).toMatchObject({ args: { thought: 'both' }, llm_metrics: { accumulated_cost: 0 } });
  expect(log.slice(8).some(({ llm_metrics }) => llm_metrics)).toBe(false);
});

it('EN205: the log holds an answer once, on its first event; the others name it and the place of their call', async () => {
  const calls = [{ name: 'execute_bash', arguments: '{' }, ...bash('echo 1').toolCalls, ...bash('echo 2').toolCalls];
  const { say, untilState, events } = await stage({ script: [{ text: 'all of it', toolCalls: calls }, done] });
  await say('begin');
  await untilState('finished');
  const log = (await events()).filter(({ tool_call_metadata: call }) => call?.total_calls_in_response === 3);
  expect(outline(log)).toEqual(['agent .error', 'agent run', 'agent run', 'agent .run<8', 'agent .run<9']);
  const [whole, ...others] = log.map(({ tool_call_metadata: call }) => call!.model_response);
  expect(whole).toMatchObject({ choices: [{ message: { content: 'all of it', tool_calls: [{}, {}, {}] } }] });
  const reference = { id: whole!.id, model: whole!.model, choices: [] };
  expect(others).toEqual([1, 2, 1, 2].map((call_index) => ({ ...reference, call_index })));
});

it('EN82: what comes after finish in the same answer is answered as not executed', async () => {
  const { say, untilState, events, runtimes } = await stage({ script: [{ toolCalls: [...done.toolCalls, ...bash('true').toolCalls] }] });
  await say('begin');
  await untilState('finished');
  expect(outline(await events()).slice(7)).toEqual([
    'agent finish',
    'agent run',
    'agent .error<8',
    'environment .agent_state_changed:finished',
  ]);
  expect(runtimes.started).toEqual([]);
});

it('EN83: a call that cannot be understood is reported to the model and does not run', async () => {
  const bad = { toolCalls: [{ name: 'execute_bash', arguments: '{"command": "rm -rf /' }, ...done.toolCalls] };
  const gate = gated(createScriptedProvider([bad, done]));
  const { say, untilState, runtimes } = await stage({ provider: gate.provider });
  await say('begin');
  await gate.called();
  gate.letGo();
  const { messages } = await gate.called();
  expect(messages.slice(-2)).toMatchObject([
    { role: 'tool', text: expect.stringContaining('not a JSON object') },
    { role: 'tool', text: expect.stringContaining('Not finished') },
  ]);
  gate.letGo();
  await untilState('finished');
  expect(runtimes.started).toEqual([]);
});

it('EN84: a model that only makes calls nobody understands is halted', async () => {
  const script = () => ({ toolCalls: [{ name: 'nothing', arguments: {} }] });
  const { say, untilState, events } = await stage({ script });
  await say('begin');
  expect(await untilState('error')).toMatchObject({ extras: { reason: expect.stringContaining('could not be understood') } });
  expect(outline(await events()).filter((line) => line === 'agent .error')).toHaveLength(8);
});

it('EN85: a cut answer’s calls are not carried out', async () => {
  const script = [{ ...bash('rm -rf ./bui'), finishReason: 'length' as const }, done];
  const { say, untilState, runtimes } = await stage({ script });
  await say('begin');
  await untilState('finished');
  expect(runtimes.started).toEqual([]);
});

it('EN310: of an answer with more than 64 calls nothing runs, and the model learns how many it may make', async () => {
  const calls = (count: number) => ({ toolCalls: Array.from({ length: count }, () => bash('echo x').toolCalls[0]!) });
  const { say, untilState, events, runtimes } = await stage({ script: [calls(5_000), calls(65), done] });
  await say('begin');
  await untilState('finished');
  expect(runtimes.started).toEqual([]);
  const refused = (await events()).filter((event) => 'observation' in event && event.observation === 'error');
  expect(refused).toMatchObject([5_000, 65].map((made) => ({ content: expect.stringContaining(`${made} calls`) as string })));
  expect(refused.map((event) => event.tool_call_metadata?.model_response?.choices[0]?.message.tool_calls?.length)).toEqual([1, 1]);
});

it('EN310: an answer with 64 calls is carried out', async () => {
  const calls = Array.from({ length: 63 }, (_, n) => ({ name: 'think', arguments: { thought: `${n}` } }));
  const { say, untilState, events } = await stage({ script: [{ toolCalls: [...calls, ...done.toolCalls] }] });
  await say('begin');
  await untilState('finished');
  expect(outline(await events()).filter((line) => line.startsWith('agent think'))).toHaveLength(63);
});

it('EN86: a failing model is a state with a reason, and the next message tries again', async () => {
  const script = [{ failure: 'LLM_AUTHENTICATION' as const, detail: 'bad key' }, done];
  const { say, untilState, frames } = await stage({ script });
  await say('begin');
  expect(await untilState('error')).toMatchObject({
    extras: { reason: 'STATUS$ERROR_LLM_AUTHENTICATION' },
    content: expect.stringContaining('bad key'),
  });
  expect(frames).toContainEqual(expect.objectContaining({ volatile: 'status', type: 'error', id: 'STATUS$ERROR_LLM_AUTHENTICATION' }));
  await say('again');
  await untilState('finished');
});

it('EN87: a provider that cannot be created is a state with its words', async () => {
  const { say, untilState } = await stage({ llm: async () => Promise.reject(new Error('LLM_MODEL names nothing')) });
  await say('begin');
  expect(await untilState('error')).toMatchObject({ content: expect.stringContaining('LLM_MODEL names nothing') });
});

it('EN88: a rate limit is a state with the time of resumption; then the agent runs again', async () => {
  const script = [{ failure: 'LLM_RATE_LIMITED' as const, detail: 'slow down', retryAfterMs: 1 }, done];
  const provider = withRetries(createScriptedProvider(script), { clock: systemClock, random: () => 0 });
  const { say, untilState, events } = await stage({ provider });
  await say('begin');
  await untilState('finished');
  const log = await events();
  expect(outline(log).slice(7)).toEqual([
    'environment .agent_state_changed:rate_limited',
    'environment .agent_state_changed:running',
    'agent finish',
    'environment .agent_state_changed:finished',
  ]);
  expect(log[7]).toMatchObject({ extras: { reason: expect.stringContaining('slow down'), resumes_at: expect.stringMatching(/Z$/) } });
});

it('EN89: the limit of steps is an error with words, and resuming gives as many again', async () => {
  const { say, submit, untilState, runtimes } = await stage({ settings: { maxIterations: 3 }, script: (_request, n) => bash(`echo ${n}`) });
  await say('begin');
  const { id } = await untilState('error');
  expect(runtimes.started).toHaveLength(3);
  await submit(resume);
  expect(await untilState('error', id + 1)).toMatchObject({ extras: { reason: expect.stringContaining('3 steps') } });
  expect(runtimes.started).toHaveLength(6);
});

it('EN90: the budget is a hard limit', async () => {
  const script = (_request: unknown, n: number) => ({ ...bash(`echo ${n}`), costUsd: 0.4 });
  const { say, untilState, runtimes, conversation } = await stage({ settings: { maxBudgetUsd: 1 }, script });
  await say('begin');
  expect(await untilState('error')).toMatchObject({ extras: { reason: expect.stringContaining('budget') } });
  expect(runtimes.started).toHaveLength(3);
  expect(conversation.state.metrics).toMatchObject({ accumulated_cost: expect.closeTo(1.2), max_budget_per_task: 1 });
});

it('EN91: the same fruitless step four times halts the agent; repeating what may change something does not', async () => {
  const failing = await stage({ script: () => bash('ls /nowhere') });
  await failing.say('begin');
  await failing.untilState('awaiting_user_input', 5);
  expect(failing.runtimes.started).toHaveLength(4);
  expect(outline(await failing.events()).slice(-2)).toEqual(['environment .error', 'environment .agent_state_changed:awaiting_user_input']);

  const counting = await stage({ script: (_request, n) => (n < 30 ? bash('echo x >> counter') : done) });
  await counting.say('begin');
  await counting.untilState('finished');
  expect(counting.runtimes.started).toHaveLength(30);
});

it('EN92: a sandbox that dies under an action makes its outcome unknown; the rest waits for the model; the next action works', async () => {
  const calls = [...bash('echo ready; sleep 60').toolCalls, ...bash('echo rest').toolCalls];
  const { say, untilOutput, untilState, events, runtimes } = await stage({ script: [{ toolCalls: calls }, bash('echo next'), done] });
  await say('begin');
  await untilOutput('ready');
  runtimes.kill();
  await untilState('finished');
  const log = await events();
  expect(outline(log).slice(7)).toEqual([
    'agent run',
    'agent run',
    'agent .error<7',
    'agent .error<8',
    'agent run',
    'agent .run<11',
    'agent finish',
    'environment .agent_state_changed:finished',
  ]);
  expect(log[9]).toMatchObject({ extras: { error_id: 'AGENT_ERROR$OUTCOME_UNKNOWN' } });
  expect(log[10]).toMatchObject({ extras: { error_id: 'AGENT_ERROR$ACTION_NOT_EXECUTED' } });
  expect(log[11]).toMatchObject({ executor: 'host-2' });
});

it('EN93: an action that certainly did not start is given to a sandbox once more', async () => {
  const { say, untilState, events, runtimes } = await stage({ script: [bash('echo once'), done] });
  runtimes.refuseNext();
  await say('begin');
  await untilState('finished');
  expect(outline(await events())).toContain('agent .run<7');
  expect(runtimes.started).toHaveLength(1);
});

it('EN94: without a sandbox the answer is recorded, its actions are not executed, and the state says why', async () => {
  const { say, untilState, events, runtimes } = await stage({ script: [bash('true'), done] });
  runtimes.failStarts('no bubblewrap');
  await say('begin');
  expect(await untilState('error')).toMatchObject({
    extras: { reason: catalogError('RUNTIME_FAILED').messageId },
    content: expect.stringContaining('no bubblewrap'),
  });
  expect(outline(await events()).slice(7)).toEqual(['agent run', 'agent .error<7', 'environment .agent_state_changed:error']);
  runtimes.failStarts();
  await say('again');
  await untilState('finished');
});

it('EN95: the answer and the output are shown while they grow, and never in the log', async () => {
  const { say, untilState, frames, events } = await stage({ script: [{ text: 'Counting now.', ...bash('echo one; echo two') }, done] });
  await say('begin');
  await untilState('finished');
  const deltas = frames.flatMap((frame) => (frame.volatile === 'delta' && frame.part === 'text' ? [frame] : []));
  expect(deltas.map(({ text }) => text).join('')).toBe('Counting now.');
  for (const [at, { offset }] of deltas.entries()) expect(offset).toBe(deltas.slice(0, at).reduce((sum, { text }) => sum + text.length, 0));
  const output = frames.flatMap((frame) => (frame.volatile === 'output' ? [frame.text] : []));
  expect(output.join('')).toBe('one\ntwo\n');
  expect(frames.filter(({ volatile }) => volatile === 'output').every((frame) => 'cause' in frame && frame.cause === 7)).toBe(true);
  expect((await events()).every((event) => isAction(event) || 'observation' in event)).toBe(true);
});

it('EN96: a secret reaches neither the log nor a frame', async () => {
  const secret = 'hunter2hunter2';
  const { say, untilState, frames, events } = await stage({
    secrets: [new Secret(secret)],
    script: [{ text: `it is ${secret}`, ...bash(`echo ${secret}`) }, done],
  });
  await say(`use ${secret}`);
  await untilState('finished');
  expect(JSON.stringify([await events(), frames])).not.toContain(secret);
});

it('EN97: an answer that did not see the user’s last message cannot end the task', async () => {
  const gate = gated(createScriptedProvider([done, { text: 'Anything else?' }, done]));
  const { say, untilState, conversation } = await stage({ provider: gate.provider });
  await say('begin');
  await gate.called();
  await say('wait, also this');
  gate.letGo();
  const { messages } = await gate.called();
  expect(messages.at(-1)).toMatchObject({ role: 'tool', text: expect.stringContaining('the user wrote while you were answering') });
  await say('and that');
  gate.letGo();
  await gate.called();
  expect(conversation.state.agentState).toBe('running');
  gate.letGo();
  await untilState('finished');
});

it('EN98: calls without ids, or with the same, each get their own result', async () => {
  const same = (id: string) => [...bash('echo a').toolCalls, ...bash('echo b').toolCalls].map((call) => ({ ...call, id }));
  const gate = gated(createScriptedProvider([{ toolCalls: same('') }, { toolCalls: same('x') }, done]));
  const { say, untilState } = await stage({ provider: gate.provider });
  await say('begin');
  for (let n = 0; n < 2; n++) {
    await gate.called();
    gate.letGo();
  }
  const { messages } = await gate.called();
  const results = messages.flatMap((message) => (message.role === 'tool' ? [message.text.split('\n')[0]] : []));
  expect(results).toEqual(['a', 'b', 'a', 'b']);
  gate.letGo();
  await untilState('finished');
});

it('EN99: a wait that the provider asked for outlives a restart', async () => {
  const log = await createMemoryStorage({ clock: systemClock }).events.open(ID);
  const first = await stage({ log, provider: gated(createScriptedProvider([])).provider });
  await first.say('begin');
  await first.conversation.close();
  const resumesAt = new Date(systemClock.now().getTime() + 60_000);
  await log.append([stateChanged('rate_limited', { resumesAt })], { expectedId: log.nextId });
  const longWait = Promise.withResolvers<number>();
  const clock = { now: systemClock.now, sleep: async (ms: number) => (ms > 30_000 ? longWait.resolve(ms) : undefined) };
  const { conversation, untilState } = await stage({ log, clock, script: [done] });
  conversation.wake();
  expect(await longWait.promise).toBeGreaterThan(50_000);
  await untilState('finished');
});

it('EN136: a task is declined with a reason, and a message goes on', async () => {
  const decline = { toolCalls: [{ name: 'reject', arguments: { reason: 'it would do harm' } }] };
  const { say, untilState, events } = await stage({ script: [decline, done] });
  await say('do harm');
  const { id } = await untilState('rejected');
  expect((await events())[id - 1]).toMatchObject({ action: 'reject', args: { outputs: { reason: 'it would do harm' } } });
  await say('then something else');
  await untilState('finished', id);
});
