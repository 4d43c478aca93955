import assert from 'node:assert/strict';
import { gzipSync } from 'node:zlib';
import type { Check } from '../../check.ts';
import { isState } from '../../target/frames.ts';
import type { ServerJson } from '../../target/target.ts';
import { raw } from '../raw.ts';
import { join, joinNew, message, turn } from '../v0-socketio/join.ts';
import { stillWorks } from './resilience.ts';

const JUNK = ['', '0', '-1', 'null', '%00', '%ff', '..%2f..%2fetc%2fpasswd', '__proto__', 'a'.repeat(3000), '%F0%9F%99%82', "' OR 1=1 --"];
const BODIES: readonly unknown[] = [null, [], 7, 'text', {}, { a: { b: [null] } }, { ['x'.repeat(1000)]: 1 }];
const POST = 'POST /api/conversations HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n';

/** Lengths that contradict each other or are none. */
const LENGTHS = [
  'Content-Length: 2\r\nTransfer-Encoding: chunked\r\n',
  'Content-Length: 2\r\nContent-Length: 60\r\n',
  'Transfer-Encoding: xchunked\r\n',
  'Content-Length: -1\r\n',
  'Content-Length : 5\r\n',
];

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

const RUINOUS: readonly string[] = ['/api/settings', '/api/models/probe', '/cluster/drain'];

/** It could take from the server what the other checks need: the settings with its model, what it knows of that, that it begins conversations, or everything of a kind. */
function isRuinous(method: string, path: string): boolean {
  return (method === 'POST' && RUINOUS.includes(path)) || (method === 'DELETE' && !path.includes('{'));
}

/** What is sent against every schema, and on purpose. */
export const attacks: readonly Check[] = [
  {
    id: 'resilience/every-route',
    title: 'every route of the OpenAPI document answers any path, query and body below 500, or with 501 to 504 in words',
    cites: ['SV90', 'SV37'],
    async run(target) {
      const { body } = await target.ask('GET', '/openapi.json');
      const paths = Object.entries((body.paths ?? {}) as unknown as Record<string, Record<string, ServerJson>>);
      assert.ok(paths.length > 0, 'there is no OpenAPI document');
      let turns = 0;
      for (const [path, methods] of paths) {
        for (const method of METHODS.filter((name) => name.toLowerCase() in methods)) {
          if (isRuinous(method, path)) continue;
          turns += 1;
          const junk = JUNK[turns % JUNK.length]!;
          const url = `${path.replaceAll(/\{[^}]*\}/g, junk || 'x')}?limit=${junk}&path=${junk}&page_id=${junk}`;
          const given = method === 'GET' || method === 'HEAD' ? {} : { body: BODIES[turns % BODIES.length] };
          const answer = await target.ask(method, url, given);
          const isFine = answer.status < 500 || (answer.status > 500 && answer.text.length > 5);
          assert.ok(isFine, `${method} ${path} with ${junk.slice(0, 20)}: ${answer.status} ${answer.text.slice(0, 60)}`);
          if (answer.status === 200 && path === '/api/conversations' && method === 'POST')
            target.defer(async () => void (await target.ask('DELETE', `/api/conversations/${String(answer.body.conversation_id)}`)));
        }
      }
      await stillWorks(target);
    },
  },
  {
    id: 'resilience/socket-io-packets',
    title: 'polls, packets and methods that Socket.IO does not have cost at most their own connection',
    cites: ['SV91'],
    async run(target) {
      const at = '/socket.io/?EIO=4&transport=polling';
      for (const method of ['PUT', 'DELETE', 'PATCH']) {
        const { status } = await target.ask(method, at);
        assert.ok(status >= 400 && status < 500, `${method} is ${status}`);
      }
      const opened = await target.ask('GET', at);
      const { sid } = JSON.parse(opened.text.slice(1)) as { sid: string };
      for (const packet of ['9', '42', '451-["x"]', `4${'['.repeat(5000)}`, '\u0000\u0001'])
        await target.ask('POST', `${at}&sid=${sid}`, { body: packet, headers: { 'content-type': 'text/plain' } });
      for (const query of ['EIO=3&transport=polling', 'EIO=4&transport=none', `${at.slice(12)}&sid=nobody`]) {
        const { status } = await target.ask('GET', `/socket.io/?${query}`);
        assert.ok(status >= 400 && status < 500, `${query} is ${status}`);
      }
      await stillWorks(target);
    },
  },
  {
    id: 'resilience/no-web-socket',
    title: 'bytes that are no WebSocket close it, and compression is never agreed on, so that nothing can swell',
    cites: ['SV92'],
    async run(target) {
      const { host } = new URL(target.server.url);
      const head = `GET /ws HTTP/1.1\r\nHost: ${host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n`;
      const answer = await raw(target, `${head}Sec-WebSocket-Extensions: permessage-deflate\r\n\r\n\xff\xff\xff\xffnoise`, 2000);
      assert.match(answer, /^HTTP\/1\.1 101/);
      assert.doesNotMatch(answer, /permessage-deflate/);
      await stillWorks(target);
    },
  },
  {
    id: 'resilience/ambiguous',
    title: 'requests whose lengths contradict each other are refused, and nothing smuggled behind one is served',
    cites: ['SV93'],
    async run(target) {
      for (const lengths of LENGTHS) {
        const answer = await raw(target, `${POST}${lengths}\r\n0\r\n\r\nGET /alive HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`, 3000);
        assert.match(answer, /^HTTP\/1\.1 4\d\d/, lengths.trim());
        assert.equal(answer.match(/HTTP\/1\.1 /g)?.length, 1, `${lengths.trim()}: two answers`);
      }
      await stillWorks(target);
    },
  },
  {
    id: 'resilience/slow-clients',
    title: 'a hundred clients that never finish a request hold nobody up',
    cites: ['SV94'],
    async run(target) {
      const slow = Array.from({ length: 100 }, () => raw(target, `${POST}Content-Length: 1000\r\n\r\n{`, 60_000));
      await stillWorks(target);
      void Promise.allSettled(slow);
    },
  },
  {
    id: 'resilience/packed-bodies',
    title: 'bodies are never unpacked (415), and above 20 MB refused',
    cites: ['SV95'],
    async run(target) {
      const packed = gzipSync(JSON.stringify({ language: 'x'.repeat(1_000_000) }));
      const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' };
      assert.equal((await target.ask('POST', '/api/settings', { body: packed, headers })).status, 415);
      const large = `{"language":"${'x'.repeat(21_000_000)}"}`;
      const answer = await target
        .ask('POST', '/api/settings', { body: large, headers: { 'content-type': 'application/json' } })
        .catch(() => undefined);
      if (answer) assert.equal(answer.status, 413);
    },
  },
  {
    id: 'resilience/uploads',
    title: 'every upload is answered below 500, whatever its body says and wherever it ends; a file named as uploaded is there',
    cites: ['SV131', 'SV27'],
    async run(target) {
      const ready = await joinNew(target);
      await turn(target, ready, [{ call: 'execute_bash', args: { command: 'true' } }]);
      const path = `/api/conversations/${ready.id}/upload-files`;
      const part = (name: string, text: string): string =>
        `--b\r\nContent-Disposition: form-data; name="files"; filename="${name}"\r\n\r\n${text}`;
      for (const body of [
        '',
        '--b',
        '--b--',
        part('half.txt', 'cut off'),
        `${part('../../out.txt', 'x')}\r\n--b--\r\n`,
        `${part('', 'x')}\r\n--b--\r\n`,
      ]) {
        const answer = await target.ask('POST', path, { body, headers: { 'content-type': 'multipart/form-data; boundary=b' } });
        assert.ok(answer.status < 500, `${JSON.stringify(body).slice(0, 60)}: ${answer.status}`);
        assert.doesNotMatch(answer.text, /"uploaded_files":\[[^\]]*(?:half|out)\.txt/);
      }
      const whole = await target.ask('POST', path, {
        body: `${part('whole.txt', 'all of it')}\r\n--b--\r\n`,
        headers: { 'content-type': 'multipart/form-data; boundary=b' },
      });
      assert.match(whole.text, /whole\.txt/);
      assert.match((await target.ask('GET', `/api/conversations/${ready.id}/select-file?file=whole.txt`)).text, /all of it/);
    },
  },
  {
    id: 'resilience/crowd',
    title: 'five conversations with three clients each: every client gets every event of its own, in order and once',
    cites: ['SV98', 'SV12'],
    async run(target) {
      const conversations = await Promise.all([1, 2, 3, 4, 5].map(() => joinNew(target)));
      const clients = await Promise.all(
        conversations.map(async ({ id, peer }) => {
          const others = [join(target, id), join(target, id)];
          for (const other of others) await other.frames.until('the state', isState('awaiting_user_input'));
          return [peer, ...others];
        }),
      );
      conversations.forEach(({ peer }, index) =>
        peer.send(
          message(target.model.script([1, 2, 3].map((n) => ({ call: 'execute_bash', args: { command: `echo index-${index}-${n}` } })))),
        ),
      );
      for (const [index, peers] of clients.entries()) {
        for (const { frames } of peers) {
          await frames.until(
            'the last',
            ({ observation, content }) => observation === 'run' && String(content).trim() === `index-${index}-3`,
          );
          const outputs = frames.all.filter(({ observation }) => observation === 'run').map(({ content }) => String(content).trim());
          assert.deepEqual(
            outputs,
            [1, 2, 3].map((n) => `index-${index}-${n}`),
          );
        }
      }
    },
  },
];
