import assert from 'node:assert/strict';
import type { Check } from '../../check.ts';
import type { Answer, Foreign, Target } from '../../target/target.ts';
import { hasStatus } from '../shapes.ts';

const HEADERS = { accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2025-03-26' };
const ARGUMENTS: Readonly<Record<string, readonly string[]>> = {
  create_pr: ['repo_name', 'source_branch', 'target_branch', 'title', 'body', 'draft', 'labels'],
  create_mr: ['id', 'source_branch', 'target_branch', 'title', 'description', 'labels'],
  create_bitbucket_pr: ['repo_name', 'source_branch', 'target_branch', 'title', 'description'],
};
/** Nobody has it, whoever's token a server may hold. */
const NOWHERE = {
  repo_name: 'tendon-conformance-nobody/tendon-conformance-nothing',
  source_branch: 'none',
  target_branch: 'main',
  title: 'x',
  body: null,
};

async function send(target: Target, message: object): Promise<Answer> {
  return target.ask('POST', '/mcp/mcp', { body: { jsonrpc: '2.0', ...message }, headers: HEADERS });
}

/** What is answered, as one document or as an event of a stream. */
async function resultOf(target: Target, method: string, params: object): Promise<Foreign> {
  const answer = await send(target, { id: 7, method, params });
  hasStatus(answer, 200);
  const data = /^data: (.*)$/m.exec(answer.text)?.[1] ?? answer.text;
  const said = JSON.parse(data) as Foreign;
  assert.equal(said.id as unknown, 7);
  assert.ok(said.result, data.slice(0, 300));
  return said.result;
}

/** The server as an MCP server, which agents of 0.62 open pull requests with. */
export const ownTools: readonly Check[] = [
  {
    id: 'v0-rest/pull-request-tools',
    title: '`/mcp/mcp` speaks the Model Context Protocol and offers the tools of 0.62 that open pull requests, with their arguments',
    cites: ['SV162', 'T3'],
    async run(target) {
      const clientInfo = { name: 'conformance', version: '1' };
      const greeting = await resultOf(target, 'initialize', { protocolVersion: '2025-03-26', capabilities: {}, clientInfo });
      assert.ok(greeting.capabilities?.tools, JSON.stringify(greeting));
      const { tools } = await resultOf(target, 'tools/list', {});
      const found = tools as unknown as readonly { readonly name: string; readonly inputSchema: { readonly properties: object } }[];
      for (const [name, names] of Object.entries(ARGUMENTS)) {
        const properties = found.find((tool) => tool.name === name)?.inputSchema.properties ?? {};
        assert.deepEqual(Object.keys(properties).toSorted(), names.toSorted(), name);
      }
    },
  },
  {
    id: 'v0-rest/pull-request-refused',
    title: 'what cannot be opened, and a call that does not fit, are results that say they are errors, in words',
    cites: ['SV162', 'SV163'],
    async run(target) {
      for (const args of [NOWHERE, { ...NOWHERE, title: null }]) {
        const result = await resultOf(target, 'tools/call', { name: 'create_pr', arguments: args });
        assert.equal(result.isError as unknown, true, JSON.stringify(result));
        const [words] = result.content as unknown as readonly { readonly text: string }[];
        assert.ok(words!.text.length > 5, JSON.stringify(result));
      }
    },
  },
  {
    id: 'v0-rest/tools-refuse',
    title: 'what is no message to the tools is refused, and the next one is answered',
    cites: ['SV165'],
    async run(target) {
      const headers = { ...HEADERS, 'content-type': 'application/json' };
      for (const body of ['{"jsonrpc"', '"hello"', '{"hello":1}', '[]']) {
        const answer = await target.ask('POST', '/mcp/mcp', { body, headers });
        assert.ok(answer.status >= 400 && answer.status < 500, `${body}: ${answer.status} ${answer.text.slice(0, 200)}`);
      }
      assert.ok((await resultOf(target, 'tools/list', {})).tools);
    },
  },
];
