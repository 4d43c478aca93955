import type { IncomingMessage } from 'node:http';
import fc from 'fast-check';
import { Secret } from '@tendon/protocol/masking';
import { runs } from '@tendon/testing';
import { expect, it } from 'vitest';
import { systemClock } from '../platform/system-clock.ts';
import { createPreviewKeys } from '../previews/preview-keys.ts';
import { temporaryFolder, testConfig } from '../server.test-support.ts';
import { targetOf, type FoundTarget, type Target } from './request-target.ts';

const JWT = new Secret('the same on every server');

function found(line: string, headers: Readonly<Record<string, string>> = {}): FoundTarget | undefined {
  const [method, url] = line.split(' ');
  const request = { method, url, headers: { host: 'localhost:3000', ...headers } } as unknown as IncomingMessage;
  return targetOf(request, { config: testConfig(temporaryFolder()), jwtSecret: JWT, clock: systemClock });
}

const target = (line: string, headers?: Readonly<Record<string, string>>): Target | undefined => found(line, headers)?.target;
const one = (id: string): Target => ({ about: 'conversation', id });
const SOCKET = { upgrade: 'websocket', connection: 'upgrade' };

it('SV1200: a request is about the conversation that its path names, however that is written', () => {
  for (const path of [
    '/api/conversations/c1',
    '/api/conversations/c1/',
    '/api/conversations/c1/events?x=1',
    '/api/%63onversations/%63%31/stop',
  ])
    expect(target(`GET ${path}`)).toEqual(one('c1'));
  expect(target('POST /api/sandboxes/c1/stop')).toEqual(one('c1'));
  expect(target('POST /mcp/mcp', { 'x-openhands-serverconversation-id': 'AB-cd' })).toEqual(one('abcd'));
  for (const line of [
    'GET /api/conversations',
    'POST /api/sandboxes/reclaim',
    'OPTIONS /api/conversations/c1',
    'GET /',
    'GET /api/%ff',
    'GET /assets/c1',
    'GET /api/conversations/a%00b',
    'GET /api/conversations/..',
  ])
    expect(target(line)).toBeUndefined();
});

it('SV1206: what begins a conversation, and what is counted in one place', () => {
  expect(target('POST /api/conversations')).toEqual({ about: 'new' });
  expect(target('POST /api/conversations', { 'idempotency-key': 'k' })).toEqual({ about: 'new', key: 'request k' });
  expect(found('POST /api/triggers/t1/webhook')).toEqual({ target: { about: 'new', key: 'trigger t1' }, opensBy: 'signature' });
  expect(found('POST /api/triggers/t1/fire')).toEqual({ target: { about: 'new', key: 'trigger t1' }, opensBy: 'key' });
  expect(target('GET /api/triggers/t1')).toBeUndefined();
  expect(target('GET /mcp/oauth/callback?state=x')).toEqual(target('POST /api/mcp/logins'));
});

it('SV1210: a socket is about the conversation of its query, or of its token’s session', () => {
  expect(target('GET /ws?conversation_id=c1', SOCKET)).toEqual(one('c1'));
  expect(target('GET /shell?conversation_id=c1', SOCKET)).toEqual(one('c1'));
  expect(target('GET /socket.io/?EIO=4&transport=websocket&conversation_id=c1', SOCKET)).toEqual(one('c1'));
  expect(target('GET /ws', SOCKET)).toEqual({ about: 'new' });
  expect(target('GET /ws?token=t', SOCKET)).toEqual({ about: 'session', token: 't' });
  expect(target('GET /ws', { ...SOCKET, 'sec-websocket-protocol': 'openhands, t, NO_GITHUB' })).toEqual({ about: 'session', token: 't' });
  expect(target('GET /other', SOCKET)).toBeUndefined();
});

it('SV1210: a request of 2024 is about its token’s session, and without one about the last', () => {
  for (const path of ['/api/list-files?path=/', '/select-file?file=a', '/api/messages/total', '/messages', '/auth', '/api/security/policy'])
    expect(target(`GET ${path}`, { authorization: 'Bearer t' })).toEqual({ about: 'session', token: 't' });
  expect(target('GET /api/refresh-files')).toEqual({ about: 'session', token: undefined });
});

it('SV1212: a request of a Socket.IO session is about the server that the session’s id names', () => {
  expect(target('POST /socket.io/?EIO=4&transport=polling&sid=abc~s1&conversation_id=c1')).toEqual({ about: 'server', id: 's1' });
  expect(target('GET /socket.io/?EIO=4&transport=polling')).toEqual({ about: 'new' });
  expect(target('GET /socket.io/?EIO=4&transport=polling&conversation_id=')).toBeUndefined();
});

it('SV1210: a preview is about the conversation that its cookie or its link opens, whatever its path', () => {
  const keys = createPreviewKeys(JWT, systemClock);
  const [host, token] = [`8000-${keys.labelOf('c1')}.localhost:3000`, keys.tokenFor('c1', 8000)];
  expect(found('GET /api/conversations/c2', { host, cookie: `a=b; tendon_preview=${token}` })).toEqual({
    target: one('c1'),
    opensBy: 'link',
  });
  expect(target(`GET /.tendon/preview/${token}`, { host })).toEqual(one('c1'));
  expect(target('GET /api/conversations/c2', { host })).toBeUndefined();
  expect(target('GET /', { host, cookie: 'tendon_preview=forged.1.x' })).toBeUndefined();
});

it('SV1200: nothing that a request line or its headers can hold throws', () => {
  const config = testConfig(temporaryFolder());
  const piece = fc.oneof(
    fc.string(),
    fc.constantFrom('/api/conversations/', '/socket.io/', '?sid=', '~', '%', '%2f', '/ws', '?token=', '//', '\0', '?conversation_id=', '&'),
  );
  fc.assert(
    fc.property(
      fc.array(piece, { maxLength: 8 }),
      fc.dictionary(fc.constantFrom('upgrade', 'authorization', 'cookie', 'host', 'sec-websocket-protocol'), fc.string()),
      (pieces, headers) => {
        const request = { method: 'GET', url: `/${pieces.join('')}`, headers } as unknown as IncomingMessage;
        expect(() => targetOf(request, { config, jwtSecret: JWT, clock: systemClock })).not.toThrow();
      },
    ),
    { numRuns: runs(300) },
  );
});
