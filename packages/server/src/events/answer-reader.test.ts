import { createMemoryStorage } from '@tendon/core/storage';
import {
  answerOf,
  fromJson,
  openhandsV0,
  RunAction,
  RunObservation,
  withAnswerReference,
  type Event,
  type ToolCallMetadata,
} from '@tendon/protocol';
import { describe, expect, it } from 'vitest';
import { socketIoClient, testServer, type TestServer, type WireFrame } from '../server.test-support.ts';
import { systemClock } from '../platform/system-clock.ts';
import { AnswerReader } from './answer-reader.ts';

const think = (thought: string) => ({ name: 'think', arguments: { thought } });
const THOUGHTS = ['first', 'second', 'third'];

/** A frame's metadata of its call: the id of the answer, its text, the calls, and the tokens. */
function answerIn({ action, observation, tool_call_metadata }: WireFrame) {
  const call = tool_call_metadata as ToolCallMetadata | undefined;
  const { id, model, choices, usage } = call!.model_response;
  const { content, tool_calls = [] } = choices[0]!.message;
  const calls = tool_calls.map(({ id: own, function: { name, arguments: args } }) => [
    own === call!.tool_call_id,
    name,
    JSON.parse(args) as unknown,
  ]);
  return { kind: action ?? `.${String(observation)}`, id: typeof id, model, content, calls, hasUsage: usage !== undefined };
}

const own = (kind: string, thought: string) => ({
  ...{ kind, id: 'string', model: expect.any(String), content: null },
  ...{ calls: [[true, 'think', { thought }]], hasUsage: false },
});

async function answered(): Promise<{
  readonly server: TestServer;
  readonly id: string;
  readonly firstId: number;
  readonly expected: readonly object[];
}> {
  const server = await testServer({ script: [{ text: 'a plan', toolCalls: THOUGHTS.map(think) }, { text: 'done' }] });
  const id = await server.create();
  const client = await socketIoClient(server, { conversation_id: id, latest_event_id: -1 });
  await client.ask('begin');
  const live = client.frames.all.filter(({ tool_call_metadata }) => tool_call_metadata);
  const all = THOUGHTS.map((thought, index) => [index === 0, 'think', { thought }]);
  const first = { kind: 'think', id: 'string', model: expect.any(String), content: 'a plan', calls: all, hasUsage: true };
  const rest = THOUGHTS.flatMap((thought) => [own('think', thought), own('.think', thought)]).slice(1);
  const expected = [first, ...rest];
  expect(live.map(answerIn)).toEqual(expected);
  return { server, id, firstId: Number(live[0]!.id), expected };
}

describe('DL170: the first event of an answer is sent with all of it, every other with its own call', () => {
  it('to a client that begins anywhere in the answer', async () => {
    const { server, id, firstId, expected } = await answered();
    for (let index = 0; index < expected.length; index++) {
      const client = await socketIoClient(server, { conversation_id: id, latest_event_id: firstId + index - 1 });
      await client.frames.untilState('awaiting_user_input');
      const frames = client.frames.all.filter(({ tool_call_metadata }) => tool_call_metadata);
      expect(frames.map(answerIn)).toEqual(expected.slice(index));
      client.socket.close();
    }
  });

  it('in pages of events, in either direction', async () => {
    const { server, id, firstId, expected } = await answered();
    const page = async (query: string) => {
      const { events } = (await (await server.get(`/api/conversations/${id}/events?${query}`)).json()) as { events: WireFrame[] };
      return events.filter(({ tool_call_metadata }) => tool_call_metadata).map(answerIn);
    };
    for (let index = 0; index < expected.length; index++) {
      expect(await page(`start_id=${firstId + index}&limit=100`)).toEqual(expected.slice(index));
      expect(await page(`end_id=${firstId + index}&reverse=true&limit=100`)).toEqual(expected.slice(0, index + 1).toReversed());
      expect(await page(`start_id=${firstId + index}&limit=1`)).toEqual([expected[index]]);
    }
  });
});

it('DL171: an exported trajectory has the whole answer on every action', async () => {
  const { server, id, expected } = await answered();
  const { trajectory } = (await (await server.get(`/api/conversations/${id}/trajectory`)).json()) as { trajectory: WireFrame[] };
  const answers = trajectory.filter(({ tool_call_metadata }) => tool_call_metadata).map(answerIn);
  expect(answers.filter(({ kind }) => kind === '.think')).toEqual(expected.filter((one) => 'kind' in one && one.kind === '.think'));
  const whole = answers.filter(({ kind }) => kind === 'think');
  expect(whole.map(({ content, calls }) => [content, calls.map(([, , args]) => args)])).toEqual(
    THOUGHTS.map(() => ['a plan', THOUGHTS.map((thought) => ({ thought }))]),
  );
});

describe('DL170: whatever the log holds', () => {
  const metadata = (n: number, command: string): ToolCallMetadata => ({
    ...{ function_name: 'execute_bash', tool_call_id: 'call_0', total_calls_in_response: 1 },
    model_response: {
      ...{ id: 'the same', model: 'm', created: n },
      choices: [
        {
          ...{ finish_reason: 'tool_calls', index: 0 },
          message: {
            ...{ role: 'assistant', content: null },
            tool_calls: [{ id: 'call_0', type: 'function', function: { name: 'execute_bash', arguments: JSON.stringify({ command }) } }],
          },
        },
      ],
    },
  });

  async function logOf(...events: readonly object[]): Promise<AnswerReader & { all(): Promise<readonly Event[]> }> {
    const log = await createMemoryStorage({ clock: systemClock }).events.open('c');
    const drafts = events.map((event) => ({ source: 'agent', ...event }) as Parameters<typeof log.append>[0][0]);
    await log.append(drafts, { expectedId: 0 });
    return Object.assign(new AnswerReader(log), { all: () => log.read() });
  }

  const step = (n: number, refers: boolean) => {
    const whole = metadata(n, `echo ${n}`);
    const observation = RunObservation.create('', { command: '' });
    return [
      { ...RunAction.create({ command: `echo ${n}` }), tool_call_metadata: whole },
      { ...observation, cause: 2 * n, tool_call_metadata: refers ? withAnswerReference(whole) : whole },
    ];
  };

  it('answers that all have the same id are distinguished, in either order of reading', async () => {
    for (const isReverse of [false, true]) {
      const reader = await logOf(...[0, 1, 2].flatMap((n) => step(n, true)));
      const events = await reader.all();
      for (const event of isReverse ? events.toReversed() : events) {
        expect(answerOf(await reader.fill(event, 'whole'))?.created).toBe(Math.floor(event.id / 2));
      }
    }
  });

  it('an older log, with the answer on every event, is sent as it is', async () => {
    const reader = await logOf(...step(0, false));
    for (const event of await reader.all()) expect(await reader.fill(event, 'own-call')).toBe(event);
  });

  it('a reference to a missing answer, and arbitrary JSON, have at least the name of the call', async () => {
    const lost = step(0, true)[1]!;
    const reader = await logOf(
      lost,
      ...[{}, { model_response: {} }, { model_response: 'x' }, { model_response: { choices: {} } }].map((odd) => ({
        ...lost,
        tool_call_metadata: odd,
      })),
    );
    const [first, ...others] = await reader.all();
    expect(answerOf(await reader.fill(first!, 'own-call'))).toMatchObject({
      ...{ id: 'the same', model: 'm' },
      choices: [{ message: { role: 'assistant', content: null, tool_calls: [{ id: 'call_0', function: { name: 'execute_bash' } }] } }],
    });
    for (const event of others) expect(openhandsV0.encode(await reader.fill(fromJson({ ...event }), 'own-call'), 'replay')).toHaveLength(1);
  });
});
