import { request as httpRequest } from 'node:http';
import { runs } from '@tendon/testing';
import { expect, it } from 'vitest';
import { testServer, type TestServer } from '../server.test-support.ts';
import { askableRoutes, type Route } from './all-routes.test-support.ts';

function send(server: TestServer, { method, url }: Route, body: string | Buffer, type = 'application/json'): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': type, 'content-length': Buffer.byteLength(body), connection: 'close' };
    const sent = httpRequest(server.url + url, { method, headers, agent: false }, (response) => {
      response.resume().on('end', () => resolve(response.statusCode!));
    });
    sent.on('error', reject).end(body);
  });
}

/** Daily every eighth, from a different one on for each body, so that every route gets two or three of the bodies. */
const EVERY = runs(1, 8);

async function restRoutes(server: TestServer, nth: number): Promise<readonly Route[]> {
  return (await askableRoutes(server)).filter(({ method }) => method !== 'HEAD').filter((_, index) => (index + nth) % EVERY === 0);
}

const DEEP = `${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`;
const BODIES: Readonly<Record<string, string | Buffer>> = {
  nothing: '',
  null: 'null',
  number: '7',
  text: '"x"',
  list: '[{}]',
  'a prototype': '{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}',
  'prototypes in known fields':
    '{"action":"__proto__","args":{"__proto__":{"polluted":true}},"name":"__proto__","value":"__proto__xx","provider_tokens":{"__proto__":{"token":"x"}},"mcp_config":{"__proto__":{}},"title":"__proto__"}',
  depth: DEEP,
  'depth in a field': `{"args":${DEEP},"replay_json":${DEEP},"suggested_task":${DEEP},"provider_tokens":${DEEP}}`,
  'wrong types':
    '{"action":1,"args":[],"name":{},"value":[],"title":1,"message":{},"filePath":[],"content":1,"repository":[],"llm_model":{}}',
  'broken text': Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d]),
  'lone surrogates': '{"message":"\\ud800","title":"\\udfff","name":"\\ud800","content":"\\ud800","filePath":"\\ud800"}',
  NUL: '{"filePath":"a\\u0000b","content":"","message":"\\u0000","title":"\\u0000","directory":"a\\u0000b"}',
};

it.each(Object.entries(BODIES).map(([name, body], nth) => [name, body, nth] as const))(
  'SV37: %s never makes a route fail',
  async (_name, body, nth) => {
    const server = await testServer();
    const id = await server.create();
    for (const route of await restRoutes(server, nth)) {
      const url = route.url.replace(':id', /conversations\/:id/.test(route.url) ? id : 'x').replace('*', 'x');
      // The conversation stays for the other routes.
      if (route.method === 'DELETE' && url.endsWith(id)) continue;
      const status = await send(server, { method: route.method, url }, body);
      expect([route.method, url, status < 500 || status === 501]).toEqual([route.method, url, true]);
    }
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
    expect((await server.get(`/api/conversations/${id}`)).status).toBe(200);
  },
  60_000,
);

const TYPES = [
  'text/plain',
  'application/xml',
  'multipart/form-data',
  'multipart/form-data; boundary=""',
  'application/json; charset=utf-16',
  'x',
];

it.each(TYPES.map((type, nth) => [type, nth] as const))(
  'SV37: the content type %s never makes a route fail',
  async (type, nth) => {
    const server = await testServer();
    const id = await server.create();
    for (const { method, url } of await restRoutes(server, nth)) {
      if (method === 'GET' || method === 'DELETE') continue;
      const path = url.replace(':id', id).replace('*', 'x');
      const status = await send(server, { method, url: path }, '{"a":1}', type);
      expect([method, url, status < 500 || status === 501]).toEqual([method, url, true]);
    }
  },
  60_000,
);
