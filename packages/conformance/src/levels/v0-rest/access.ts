import assert from 'node:assert/strict';
import type { Check } from '../../check.ts';
import { isState } from '../../target/frames.ts';
import type { Target } from '../../target/target.ts';
import { hasStatus, hasTypes } from '../shapes.ts';
import { join, joinNew, message } from '../v0-socketio/join.ts';

const header = (key: string): Record<string, string> => ({ 'x-session-api-key': key });

async function keyWith(target: Target, scope: string): Promise<{ readonly id: string; readonly key: string }> {
  const answer = await target.ask('POST', '/api/keys', { body: { name: `conformance ${scope}`, scope } });
  hasStatus(answer, 201);
  const id = String(answer.body.id);
  target.defer(async () => void (await target.ask('DELETE', `/api/keys/${id}`)));
  return { id, key: String(answer.body.key) };
}

/** Keys with scopes, links to one conversation, and a server with a key. */
export const access: readonly Check[] = [
  {
    id: 'v0-rest/keys',
    title: 'a key is shown once, listed without itself, and revoked',
    cites: ['SV70'],
    needs: '/api/keys',
    async run(target) {
      const { id, key } = await keyWith(target, 'read');
      const list = await target.ask('GET', '/api/keys');
      assert.ok(list.text.includes(id) && !list.text.includes(key), 'the list has the key itself, or not its id');
      hasStatus(await target.ask('GET', '/api/conversations', { headers: header(key) }), 200);
      hasStatus(await target.ask('DELETE', `/api/keys/${id}`), 200);
      assert.ok(!(await target.ask('GET', '/api/keys')).text.includes(id), 'it is still listed');
    },
  },
  {
    id: 'v0-rest/scopes',
    title: 'a key gets what its scope says: `read` looks, `drive` acts, neither has settings’ secrets or keys',
    cites: ['SV72'],
    needs: '/api/keys',
    async run(target) {
      const read = header((await keyWith(target, 'read')).key);
      const drive = header((await keyWith(target, 'drive')).key);
      const id = await target.converse();
      hasStatus(await target.ask('GET', `/api/conversations/${id}/events`, { headers: read }), 200);
      hasStatus(await target.ask('POST', '/api/conversations', { body: {}, headers: read }), 401, 403);
      hasStatus(await target.ask('PATCH', `/api/conversations/${id}`, { body: { title: 'x' }, headers: read }), 401, 403);
      hasStatus(await target.ask('PATCH', `/api/conversations/${id}`, { body: { title: 'x' }, headers: drive }), 200);
      for (const path of ['/api/keys', '/api/secrets']) hasStatus(await target.ask('GET', path, { headers: drive }), 401, 403);
    },
  },
  {
    id: 'v0-rest/shares',
    title: 'a link shows its one conversation, live, and lets nobody act in it',
    cites: ['SV70', 'SV73'],
    needs: '/api/conversations/{id}/shares',
    async run(target) {
      const ready = await joinNew(target);
      const other = await target.converse();
      const made = await target.ask('POST', `/api/conversations/${ready.id}/shares`, { body: {} });
      hasStatus(made, 201);
      const token = String(made.body.token);
      hasStatus(await target.ask('GET', `/api/conversations/${ready.id}/events`, { headers: { 'x-tendon-share': token } }), 200);
      hasStatus(await target.ask('GET', `/api/conversations/${other}/events`, { headers: { 'x-tendon-share': token } }), 401, 403);
      const watcher = join(target, ready.id, { query: { share: token } });
      await watcher.frames.until('the state', isState('awaiting_user_input'));
      const from = watcher.frames.all.length;
      watcher.send(message('who only looks says something'));
      await watcher.frames.until('a refusal', (frame) => JSON.stringify(frame).includes('READ_ONLY'), { from });
      ready.peer.send(message(target.model.script([{ text: 'seen by both' }])));
      await watcher.frames.until('what is live', ({ args }) => (args as { content?: string } | undefined)?.content === 'seen by both');
      hasStatus(await target.ask('DELETE', `/api/conversations/${ready.id}/shares/${String(made.body.id)}`), 200);
      await watcher.ended;
    },
  },
  {
    id: 'v0-rest/key-asked-for',
    title: 'with a key every route and socket asks for it but those that are public',
    cites: ['SV5', 'SV13'],
    needs: 'key',
    async run(target) {
      const wrong = header('wrong');
      for (const path of ['/api/conversations', '/api/settings', '/api/options/models', '/openapi.json', '/api/no/such/route'])
        hasStatus(await target.ask('GET', path, { headers: wrong }), 401, 403);
      for (const path of ['/alive', '/health']) hasStatus(await target.ask('GET', path, { headers: wrong }), 200);
      const peer = join(target, await target.converse(), { query: { session_api_key: 'wrong' } });
      await peer.ended;
      assert.deepEqual(
        peer.frames.all.filter(({ id }) => id !== undefined),
        [],
      );
      const plain = await target.connect.webSocket({ headers: wrong });
      await plain.ended;
    },
  },
  {
    id: 'v0-rest/key-and-old-token',
    title: 'the token of an old client lets nobody in where a key is asked for',
    cites: ['SV74'],
    needs: 'key',
    async run(target) {
      const { body } = await target.ask('GET', '/api/auth', { headers: { authorization: 'Bearer null' } });
      hasTypes(body, { token: 'string' }, 'answer');
      const old = { authorization: `Bearer ${String(body.token)}`, 'x-session-api-key': '' };
      hasStatus(await target.ask('GET', '/api/list-files', { headers: old }), 401, 403);
    },
  },
  {
    id: 'v0-rest/login',
    title:
      'a browser signs in with the key and goes on with a cookie that no script and no other site can use; a change needs more than the cookie',
    cites: ['SV75', 'SV76'],
    needs: 'key',
    async run(target) {
      const form = { 'content-type': 'application/x-www-form-urlencoded', 'x-session-api-key': '' };
      const wrong = await target.ask('POST', '/login', { body: 'key=wrong', headers: form });
      hasStatus(wrong, 401, 403, 429);
      const entered = await target.ask('POST', '/login', {
        body: new URLSearchParams({ key: target.server.key ?? '', next: '//evil.example/' }).toString(),
        headers: form,
      });
      hasStatus(entered, 302, 303);
      assert.doesNotMatch(entered.headers.get('location') ?? '', /evil/);
      const cookie = entered.headers.get('set-cookie') ?? '';
      assert.match(cookie, /HttpOnly/i);
      assert.match(cookie, /SameSite=Strict/i);
      const signed = { cookie: cookie.split(';')[0]!, 'x-session-api-key': '', origin: new URL(target.server.url).origin };
      hasStatus(await target.ask('GET', '/api/conversations', { headers: signed }), 200);
      hasStatus(await target.ask('POST', '/api/conversations', { body: {}, headers: signed }), 401, 403);
      hasStatus(await target.ask('GET', '/api/conversations', { headers: { ...signed, origin: 'http://localhost:1' } }), 401, 403);
    },
  },
];
