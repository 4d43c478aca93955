import { TendonProcess, Watcher } from '@tendon/testing/servers';
import { describe, expect, it, onTestFinished } from 'vitest';
import { itInFull } from '@tendon/testing';
import { startModelEndpoint, type EndpointRequest, type EndpointTurn } from '../../packages/core/src/llm/contract/model-endpoint.ts';
import { makePlace, tendon } from '../../packages/cli/src/tendon-child.test-support.ts';

const MODEL = 'own/plain';
const LISTS = { '/v1/models': { object: 'list', data: [{ id: MODEL, max_model_len: 16_384 }] } };
/** Takes no tools, sees nothing, and finishes at once. */
const plain = (body: EndpointRequest['body']): EndpointTurn => {
  if (body.tools !== undefined) return { status: 400, body: { error: { message: 'registry.example/plain does not support tools' } } };
  if (JSON.stringify(body).includes('image_url')) return { status: 400, body: { error: { message: 'pictures are not supported' } } };
  const isTask = JSON.stringify(body).includes('<function=');
  return { text: isTask ? ['<function=finish>\n<parameter=message>', 'Done.</parameter>\n</function>'] : ['one ', 'two'] };
};
const FOUND = { model: MODEL, tools: false, parallel_calls: null, images: false, streaming: true, context_window: 16_384 };
const UNKNOWN = { ...FOUND, tools: null, images: null, streaming: null, context_window: null };

async function endpointOf() {
  const endpoint = await startModelEndpoint('openai', plain, LISTS);
  onTestFinished(() => endpoint[Symbol.asyncDispose]());
  return { endpoint, env: { RUNTIME: 'none', LLM_MODEL: MODEL, LLM_API_KEY: 'sk-models-12345678', LLM_BASE_URL: endpoint.url } };
}

async function finish(server: TendonProcess): Promise<void> {
  const { conversation_id: id } = await server.json<{ conversation_id: string }>('/api/conversations', {});
  const watcher = new Watcher(server.url, id);
  onTestFinished(() => watcher.close());
  await watcher.untilState('awaiting_user_input');
  watcher.send('message', { content: 'finish' });
  await watcher.untilState('finished');
}

const toolsIn = (requests: readonly EndpointRequest[]) => requests.map(({ body }) => body.tools !== undefined);

describe('the models in use', () => {
  itInFull('LM803, LM804, LM805, LM806: are asked on request, and what was found is used, also after a restart', async () => {
    const { endpoint, env } = await endpointOf();
    const server = await TendonProcess.start({ ...env, LLM_FALLBACK_MODEL: 'own/other' });
    onTestFinished(() => server.remove());
    const list = async () => (await server.json<{ models: readonly object[] }>('/api/models')).models;
    expect(await list()).toMatchObject([
      { ...UNKNOWN, use: 'main' },
      { ...UNKNOWN, model: 'own/other', use: 'fallback' },
    ]);
    expect(endpoint.requests).toHaveLength(0);
    const cli = (args: readonly string[]) => tendon(makePlace(), ['models', ...args], { env: { TENDON_HOME: server.home } });
    expect(await cli([])).toMatchObject({ code: 0, stdout: expect.stringContaining('tools      not known') });
    const probed = await cli(['probe', '--json']);
    expect(probed).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(probed.stdout)).toEqual({ ...FOUND, use: 'main', failure: null, tokens: 110, cost_usd: 0 });
    expect(endpoint.requests).toHaveLength(3);
    expect((await list())[0]).toMatchObject(FOUND);
    await server.kill('SIGTERM');
    await server.start();
    expect((await list())[0]).toMatchObject(FOUND);
    await finish(server);
    expect(toolsIn(endpoint.requests)).toEqual([true, false, false, false]);
  });

  itInFull('LM805, LM724: what a refusal showed holds after a restart', async () => {
    const { endpoint, env } = await endpointOf();
    const server = await TendonProcess.start(env);
    onTestFinished(() => server.remove());
    await finish(server);
    await server.kill('SIGTERM');
    await server.start();
    await finish(server);
    expect(toolsIn(endpoint.requests)).toEqual([true, false, false]);
  });

  it('LM802, LM806: without a server the command asks by itself; a model that does not answer is an error', async () => {
    const { env } = await endpointOf();
    const place = makePlace();
    expect(await tendon(place, ['models', 'probe'], { env })).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/16,384.*\n.*110 tokens/),
    });
    expect(await tendon(place, ['models'], { env })).toMatchObject({ code: 0, stdout: expect.stringContaining('no: they are left out') });
    const demo = await tendon(place, ['models', 'probe', 'demo'], { env });
    expect(demo).toMatchObject({ code: 1, stdout: expect.stringContaining('no endpoint') });
  });
});
