import { describe, expect, it } from 'vitest';
import { itInFull } from '@tendon/testing';
import { testServer } from '../server.test-support.ts';

describe('SV10: REST', () => {
  it('an empty server answers what every frontend asks at load', async () => {
    const server = await testServer();
    expect(await (await server.get('/alive')).json()).toEqual({ status: 'ok' });
    expect(await (await server.get('/health')).text()).toBe('"OK"');
    expect(await (await server.get('/api/options/config')).json()).toMatchObject({
      APP_MODE: 'oss',
      FEATURE_FLAGS: { ENABLE_BILLING: false },
    });
    expect(await (await server.get('/api/options/agents')).json()).toContain('CodeActAgent');
    expect(await (await server.get('/api/options/security-analyzers')).json()).toEqual(['llm', 'model', 'rules']);
    const models = (await (await server.get('/api/options/models')).json()) as string[];
    expect(models).toEqual(models.toSorted());
    expect(models).toEqual(
      expect.arrayContaining(['openhands/claude-sonnet-4-20250514', 'anthropic/claude-sonnet-4-20250514', 'gpt-4o', 'demo']),
    );
    expect(await (await server.get('/api/conversations')).json()).toEqual({ results: [], next_page_id: null });
    expect(await (await server.get('/api/v1/sandboxes?id=x')).json()).toEqual([]);
    expect(await (await server.get('/server_info')).json()).toMatchObject({ model: 'demo', sandbox: { driver: 'none', strength: 'none' } });
    expect(await (await server.get('/metrics')).text()).toContain('tendon_open_conversations 0');
  });

  it('settings: 404 first, then what was stored, without keys', async () => {
    const server = await testServer();
    const missing = await server.get('/api/settings');
    expect([missing.status, await missing.json()]).toEqual([404, expect.objectContaining({ error: 'Settings not found' })]);
    const stored = await server.post('/api/settings', { llm_model: 'openai/gpt-4o', llm_api_key: 'sk-12345678', provider_tokens_set: {} });
    expect(await stored.json()).toEqual({ message: 'Settings stored' });
    await server.post('/api/settings', { language: 'de' });
    expect(await (await server.get('/api/settings')).json()).toMatchObject({
      llm_model: 'openai/gpt-4o',
      language: 'de',
      llm_api_key: '**********',
      llm_api_key_set: true,
    });
    expect(await (await server.get('/server_info')).json()).toMatchObject({ model: 'openai/gpt-4o' });
  });

  it('SV154, SV234: settings without a model name the one in use, and sending that name back changes nothing', async () => {
    const server = await testServer();
    await server.post('/api/settings', { user_consents_to_analytics: false });
    const shown = (await (await server.get('/api/settings')).json()) as Record<string, unknown>;
    expect(shown).toMatchObject({ llm_model: 'demo', llm_base_url: '', agent: 'CodeActAgent', language: 'en' });
    // Frontends of 0.40 show a lock where an analyzer is set; those of 0.62 send the one that they want.
    expect(shown).toHaveProperty('security_analyzer', null);
    await server.post('/api/settings', { ...shown, language: 'fr' });
    expect(server.engine.settings.current).toMatchObject({ llm_model: null, language: 'fr' });
    await server.post('/api/settings', { llm_model: 'openai/gpt-4o' });
    await server.post('/api/settings', { llm_model: 'demo' });
    expect(server.engine.settings.current).toMatchObject({ llm_model: 'demo' });
    await server.post('/api/settings', { llm_model: '' });
    expect(await (await server.get('/api/settings')).json()).toMatchObject({ llm_model: 'demo' });
  });

  it('what does not fit is 422 in the shape clients know, malformed JSON 400, too much 413', async () => {
    const server = await testServer();
    const wrong = await server.post('/api/settings', { condenser_max_size: 3 });
    expect([wrong.status, await wrong.json()]).toEqual([
      422,
      { detail: [{ type: 'too_small', loc: ['body', 'condenser_max_size'], msg: expect.any(String) as string }] },
    ]);
    const headers = { 'content-type': 'application/json' };
    expect((await fetch(`${server.url}/api/settings`, { method: 'POST', headers, body: '{' })).status).toBe(400);
    expect((await fetch(`${server.url}/api/conversations`, { method: 'POST', headers, body: '' })).status).toBe(200);
    const limited = await server.get(`/api/conversations/${'0'.repeat(32)}/events?limit=101`);
    expect([limited.status, await limited.json()]).toEqual([400, { detail: 'Invalid limit' }]);
    expect((await fetch(`${server.url}/api/settings`, { method: 'POST', headers, body: `"${'x'.repeat(21 << 20)}"` })).status).toBe(413);
  });

  it('a body without anything in it may be left out', async () => {
    const server = await testServer();
    const bare = async (path: string) => {
      const answer = await fetch(server.url + path, { method: 'POST' });
      return { status: answer.status, body: (await answer.json()) as Record<string, string> };
    };
    const made = await bare('/api/conversations');
    expect(made).toMatchObject({ status: 200, body: { status: 'ok' } });
    expect(await bare(`/api/conversations/${made.body['conversation_id']}/shares`)).toMatchObject({
      status: 201,
      body: { url: expect.stringContaining('/shared/') },
    });
  });

  it('an unknown path under /api is 404 in JSON, whatever the method', async () => {
    const server = await testServer();
    for (const method of ['GET', 'POST', 'DELETE']) {
      const response = await fetch(`${server.url}/api/no/such`, { method });
      expect([response.status, response.headers.get('content-type')]).toEqual([404, 'application/json; charset=utf-8']);
    }
  });

  itInFull('describes itself', async () => {
    const server = await testServer();
    const { paths } = (await (await server.get('/api/openapi.json')).json()) as { paths: object };
    expect(Object.keys(paths)).toEqual(expect.arrayContaining(['/api/conversations', '/api/conversations/{id}/events', '/api/settings']));
    expect(await (await server.get('/api/schema/events.json')).json()).toHaveProperty('$defs.RunAction');
  });
});

describe('SV11: conversations over REST', () => {
  itInFull('are listed, opened, renamed, stopped, started and deleted, list items as complete as single ones', async () => {
    const server = await testServer();
    const id = await server.create({ repository: 'o/r', unknown_key: 1 });
    expect(id).toMatch(/^[0-9a-f]{32}$/);
    const single = (await (await server.get(`/api/conversations/${id}`)).json()) as object;
    expect(single).toMatchObject({
      title: `Conversation ${id.slice(0, 5)}`,
      status: 'RUNNING',
      runtime_status: 'STATUS$READY',
      url: `/api/conversations/${id}`,
      selected_repository: 'o/r',
    });
    // A server that has just started opens what is new at a moment of its own.
    const listed = { ...single, agent_state: expect.any(String) };
    expect(await (await server.get('/api/conversations')).json()).toEqual({ results: [listed], next_page_id: null });

    const renamed = await fetch(`${server.url}/api/conversations/${id}`, {
      method: 'PATCH',
      headers: { 'content-type': 'application/json' },
      body: '{"title":"New"}',
    });
    expect(await renamed.json()).toBe(true);
    expect(await (await server.post(`/api/conversations/${id}/stop`)).json()).toMatchObject({
      status: 'ok',
      conversation_status: 'RUNNING',
    });
    expect(await (await server.get(`/api/conversations/${id}`)).json()).toMatchObject({
      title: 'New',
      status: 'STOPPED',
      runtime_status: null,
      url: null,
    });
    expect(await (await server.post(`/api/conversations/${id}/stop`)).json()).toMatchObject({ message: 'Conversation was not running' });
    expect(await (await server.post(`/api/conversations/${id}/start`, { providers_set: [] })).json()).toMatchObject({
      conversation_status: 'RUNNING',
    });
    expect(await (await fetch(`${server.url}/api/conversations/${id}`, { method: 'DELETE' })).json()).toBe(true);
    expect(await (await fetch(`${server.url}/api/conversations/${id}`, { method: 'DELETE' })).json()).toBe(false);
    expect(await (await server.get(`/api/conversations/${id}`)).text()).toBe('null');
    expect((await server.post(`/api/conversations/${id}/start`)).status).toBe(404);
    expect((await server.get(`/api/conversations/${id}/events`)).status).toBe(404);
  });

  it.each(['x'.repeat(101), 'a%00b', '..%2f..%2fetc', 'a%5cb'])('the id %s is refused', async (id) => {
    const server = await testServer();
    expect((await server.get(`/api/conversations/${id}`)).status).toBe(400);
  });

  it('pages are of the size asked for, newest first, without gaps', async () => {
    const server = await testServer();
    const made: string[] = [];
    for (let i = 0; i < 7; i++) made.push(await server.create());
    const seen: string[] = [];
    let page: string | null = '';
    while (page !== null) {
      const answer = (await (await server.get(`/api/conversations?limit=3&page_id=${page}`)).json()) as {
        results: { conversation_id: string; created_at: string }[];
        next_page_id: string | null;
      };
      seen.push(...answer.results.map((result) => result.conversation_id));
      page = answer.next_page_id;
    }
    expect(seen.toSorted()).toEqual(made.toSorted());
    expect(new Set(seen).size).toBe(7);
  });

  it('a message is answered, its events are read, exported and named after the task', async () => {
    const server = await testServer({ script: [{ text: 'Hello back.' }] });
    const id = await server.create({ initial_user_msg: 'Say hello\nto me' });
    const state = async () => ((await (await server.get(`/api/conversations/${id}`)).json()) as { agent_state: string }).agent_state;
    await expect.poll(state).toBe('awaiting_user_input');
    const { events, has_more } = (await (await server.get(`/api/conversations/${id}/events?limit=100`)).json()) as {
      events: Record<string, unknown>[];
      has_more: boolean;
    };
    expect(has_more).toBe(false);
    expect(events.map((event) => event.id)).toEqual(events.map((_, index) => index));
    const messages = events.filter((event) => event.action === 'message').map((event) => [event.source, event.message]);
    expect(messages).toEqual([
      ['user', 'Say hello\nto me'],
      ['agent', 'Hello back.'],
    ]);
    const part = (await (
      await server.get(`/api/conversations/${id}/events?start_id=1&end_id=3&reverse=true&limit=2`)
    ).json()) as typeof events & {
      events: { id: number }[];
    };
    expect(part).toMatchObject({ events: [{ id: 3 }, { id: 2 }], has_more: true });
    const { trajectory } = (await (await server.get(`/api/conversations/${id}/trajectory`)).json()) as { trajectory: unknown[] };
    expect(trajectory).toEqual(events);
    expect(await (await server.get(`/api/conversations/${id}`)).json()).toMatchObject({ title: 'Say hello to me' });
  });

  it('a folder outside the base is refused by name', async () => {
    const server = await testServer();
    const refused = await server.post('/api/conversations', { directory: '/etc' });
    expect([refused.status, await refused.json()]).toEqual([
      403,
      expect.objectContaining({ status: 'error', message: expect.stringContaining('TENDON_ALLOWED_DIRS') as string }),
    ]);
  });
});
