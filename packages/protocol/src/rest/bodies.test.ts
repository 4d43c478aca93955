import { describe, expect, it } from 'vitest';
import { addressesOf, BackendSettings } from './server-info.ts';
import { ConversationQuery, CreateConversation, repositoryOf, UpdateConversation } from './conversation.ts';
import { EventsQuery } from './events-page.ts';
import { Failure, validationFailure } from './failure.ts';
import { McpConfig } from './mcp-config.ts';
import { isMaskedKey, SettingsUpdate } from './settings.ts';

describe('bodies that clients of every release send', () => {
  it.each([
    [{}, undefined],
    [{ repository: 'o/r', git_provider: 'github', selected_branch: 'main' }, 'o/r'],
    [{ selected_repository: 'o/r', github_token: 'x', initial_user_msg: 'hi', image_urls: [] }, 'o/r'],
    [{ selected_repository: { id: 1, full_name: 'o/r', git_provider: 'github' } }, 'o/r'],
    [{ selected_repository: null, selected_branch: null, replay_json: null }, undefined],
  ])('DL41: a conversation is made from %j', (body, repository) => {
    expect(repositoryOf(CreateConversation.parse(body))).toBe(repository);
  });

  it('DL42: settings of every release are taken, unknown keys are dropped, a small condenser is refused', () => {
    const update = SettingsUpdate.parse({
      llm_model: 'gpt-4o',
      llm_api_key: null,
      provider_tokens_set: {},
      llm_api_key_set: true,
      github_token: '',
    });
    expect(update).toEqual({ llm_model: 'gpt-4o', llm_api_key: null, github_token: '' });
    expect(SettingsUpdate.safeParse({ condenser_max_size: 19 }).success).toBe(false);
  });

  it('DL42: what old frontends send back for a key they were only shown masked is recognised', () => {
    expect(['SET', '**********', '', 'sk-1'].map(isMaskedKey)).toEqual([true, true, false, false]);
  });

  it('DL43: MCP servers are strict, a bare address stands for one', () => {
    expect(McpConfig.parse({ sse_servers: ['http://localhost:1'], shttp_servers: [{ url: 'http://localhost:2' }] })).toEqual({
      sse_servers: ['http://localhost:1'],
      stdio_servers: [],
      shttp_servers: [{ url: 'http://localhost:2', timeout: 60 }],
    });
    expect(McpConfig.safeParse({ sse_servers: [{ url: 'x', surprise: 1 }] }).success).toBe(false);
  });

  it('DL44: queries are text, and bounded', () => {
    expect(EventsQuery.parse({ start_id: '3', reverse: 'true', limit: '0' })).toEqual({ start_id: 3, reverse: true, limit: 0 });
    expect([{ limit: '101' }, { limit: '-1' }, { start_id: 'x' }].map((query) => EventsQuery.safeParse(query).success)).toEqual([
      false,
      false,
      false,
    ]);
    expect(ConversationQuery.parse({})).toEqual({ limit: 20 });
    expect(UpdateConversation.safeParse({ title: 't', extra: 1 }).success).toBe(false);
  });

  it('DL45: a body that does not fit is refused in the shape old clients know', () => {
    const result = UpdateConversation.safeParse({ title: '' });
    const failure = validationFailure(result.error!, 'body');
    expect(Failure.parse(failure)).toEqual(failure);
    expect(failure.detail).toMatchObject([{ loc: ['body', 'title'] }]);
  });

  it('DL46: a client needs nothing but its backend settings', () => {
    expect(addressesOf(BackendSettings.parse({}))).toEqual({ http: 'http://localhost:3000', ws: 'ws://localhost:3000/ws' });
    expect(addressesOf(BackendSettings.parse({ backend_host: '::1', backend_port: 8000, use_tls: true }))).toEqual({
      http: 'https://[::1]:8000',
      ws: 'wss://[::1]:8000/ws',
    });
    expect(BackendSettings.safeParse({ backend_port: 0 }).success).toBe(false);
  });
});
