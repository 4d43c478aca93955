/** A stop ends everything that was delegated, also what a killed server had begun. */
import { startScriptedModel } from '@tendon/conformance';
import { TendonProcess } from '@tendon/testing/servers';
import { expect, it, onTestFinished } from 'vitest';

it('EN138, EN401: a stop after a kill ends two agents that were delegated to at once, with their commands', async () => {
  const model = await startScriptedModel();
  onTestFinished(() => model.close());
  const tendon = await TendonProcess.start({ LLM_MODEL: 'openai/gpt-4o', LLM_API_KEY: 'key-of-no-one', LLM_BASE_URL: model.url });
  onTestFinished(() => tendon.remove());
  const api = (path: string, body?: object) =>
    fetch(`${tendon.url}/api/conversations${path}`, {
      ...(body && { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    });
  const part = (name: string) =>
    model.script([
      { call: 'execute_bash', args: { command: `touch begun-${name}; until test -e go; do sleep 0.05; done; touch ended-${name}` } },
      { call: 'finish', args: { message: 'done' } },
    ]);
  const whole = model.script([
    {
      calls: [
        { call: 'delegate', args: { task: part('a') } },
        { call: 'delegate', args: { task: part('b') } },
      ],
    },
  ]);
  const { conversation_id: id } = (await (await api('', { initial_user_msg: whole })).json()) as { conversation_id: string };
  const files = async (): Promise<readonly string[]> => (await (await api(`/${id}/list-files`)).json()) as string[];
  await expect.poll(async () => (await files()).filter((name) => name.startsWith('begun')), { timeout: 50_000 }).toHaveLength(2);
  const children = async () => {
    const { results } = (await (await api('?limit=50')).json()) as { results: { conversation_id: string; agent_state: string }[] };
    return results.filter(({ conversation_id }) => conversation_id !== id).map(({ agent_state }) => agent_state);
  };
  await tendon.kill('SIGKILL');
  await tendon.start();
  await expect.poll(children, { timeout: 50_000 }).toEqual(['running', 'running']);
  expect((await api(`/${id}/stop`, {})).status).toBe(200);
  await expect.poll(children, { timeout: 50_000 }).toEqual(['stopped', 'stopped']);
  await api(`/${id}/start`, {});
  await api(`/${id}/events`, { action: 'run', args: { command: 'touch go; sleep 1; touch looked' } });
  await expect.poll(files, { timeout: 50_000 }).toContain('looked');
  expect((await files()).filter((name) => name.startsWith('ended'))).toEqual([]);
});
