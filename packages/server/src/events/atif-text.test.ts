import { expect, it } from 'vitest';
import { testServer } from '../server.test-support.ts';

interface Atif {
  readonly steps: readonly {
    readonly step_id: number;
    readonly source: string;
    readonly message: string;
    readonly tool_calls?: readonly { readonly tool_call_id: string; readonly function_name: string; readonly arguments: object }[];
    readonly observation?: { readonly results: readonly { readonly source_call_id?: string; readonly content: string }[] };
    readonly metrics?: { readonly prompt_tokens: number; readonly cost_usd: number };
  }[];
  readonly [key: string]: unknown;
}

const think = (thought: string) => ({ name: 'think', arguments: { thought } });

it('EV920 EV921: a conversation as ATIF has a step for each message and each answer, with what came of its calls', async () => {
  const usage = { inputTokens: 100, outputTokens: 7, cacheReadTokens: 40 };
  const script = [
    { text: 'A plan.', toolCalls: [think('first'), think('second')], usage, costUsd: 0.5 },
    { toolCalls: [{ name: 'no_such_tool', arguments: 'no JSON' }], usage, costUsd: 0.25 },
    { text: 'Done.', usage, costUsd: 0.25 },
  ];
  const server = await testServer({ script });
  const id = await server.create({ initial_user_msg: 'do it' });
  const state = async () => ((await (await server.get(`/api/conversations/${id}`)).json()) as { agent_state: string }).agent_state;
  await expect.poll(state, { timeout: 50_000 }).toBe('awaiting_user_input');
  const answer = await server.get(`/api/conversations/${id}/trajectory?format=atif`);
  expect(answer.headers.get('content-type')).toContain('application/json');
  const { steps, ...rest } = (await answer.json()) as Atif;
  expect(rest).toEqual({
    schema_version: 'ATIF-v1.4',
    session_id: id,
    agent: { name: 'tendon', version: expect.any(String), model_name: expect.stringContaining('scripted') },
    final_metrics: {
      total_prompt_tokens: 300,
      total_completion_tokens: 21,
      total_cached_tokens: 120,
      total_cost_usd: 1,
      total_steps: steps.length,
    },
  });
  expect(steps.map(({ step_id }) => step_id)).toEqual(steps.map((_step, index) => index + 1));
  const user = steps.findIndex(({ source }) => source === 'user');
  expect(steps[user]!.message).toBe('do it');
  const [plan, wrong, last, ...more] = steps.slice(user + 1);
  expect(more).toEqual([]);
  expect(plan).toMatchObject({
    source: 'agent',
    message: 'A plan.',
    tool_calls: [
      { function_name: 'think', arguments: { thought: 'first' } },
      { function_name: 'think', arguments: { thought: 'second' } },
    ],
    metrics: { prompt_tokens: 100, completion_tokens: 7, cached_tokens: 40, cost_usd: 0.5 },
  });
  expect(plan!.observation!.results.map(({ source_call_id }) => source_call_id)).toEqual(
    plan!.tool_calls!.map(({ tool_call_id }) => tool_call_id),
  );
  expect(wrong).toMatchObject({ tool_calls: [{ function_name: 'no_such_tool', arguments: { text: 'no JSON' } }] });
  expect(wrong!.observation!.results[0]!.content).toContain('no_such_tool');
  expect(last).toMatchObject({ source: 'agent', message: 'Done.', metrics: { cost_usd: 0.25 } });
});
