import assert from 'node:assert/strict';
import type { Check } from '../../check.ts';
import type { Target } from '../../target/target.ts';
import { startToolServer, type ToolServer } from '../../model/mcp-server.ts';
import { hasStatus } from '../shapes.ts';
import { join, observationIn, turn, type Ready } from '../v0-socketio/join.ts';
import { isState } from '../../target/frames.ts';

const KEY = 'a-key-of-the-conformance-tools';

/** A conversation that was made with a server of one tool. */
async function converseWithTools(target: Target): Promise<{ readonly id: string; readonly server: ToolServer }> {
  const server = await startToolServer(KEY);
  target.defer(() => server.close());
  return { id: await target.converse({ mcp_config: { shttp_servers: [{ url: server.url, api_key: KEY }] } }), server };
}

async function joinWithTools(target: Target): Promise<Ready & { readonly server: ToolServer }> {
  const { id, server } = await converseWithTools(target);
  const peer = join(target, id);
  await peer.frames.until('awaiting_user_input', isState('awaiting_user_input'));
  return { id, peer, server };
}

/** By what name the model is offered the tool: on a busy machine its server is met a turn later. */
async function offeredName(target: Target, ready: Ready): Promise<string> {
  return target.eventually('tool of the server among those that the model is offered', async () => {
    const words = target.script([{ text: 'Not yet.' }]);
    const from = ready.peer.frames.all.length;
    ready.peer.send({ action: 'message', args: { content: words } });
    await ready.peer.frames.until('running', isState('running'), { from });
    await ready.peer.frames.until('the end of the turn', isState('awaiting_user_input', 'finished'), { from });
    const tools = target.modelRequests(words)[0]?.tools as unknown as readonly { readonly function: { readonly name: string } }[];
    return tools.map((tool) => tool.function.name).find((name) => name.endsWith('tell_zone'));
  });
}

/** MCP servers that a conversation is made with. The settings, which are everybody's, are left alone. */
export const toolServers: readonly Check[] = [
  {
    id: 'v0-rest/own-tool-servers',
    title: 'the model of a conversation that is made with `mcp_config` is offered its tools, and a call is in the log with its answer',
    cites: ['SV136', 'SV160'],
    async run(target) {
      const ready = await joinWithTools(target);
      const name = await offeredName(target, ready);
      const frames = await turn(target, ready, [{ call: name, args: { city: 'Rome' } }]);
      const action = frames.find((frame) => frame.action === 'call_tool_mcp');
      assert.partialDeepStrictEqual(action?.args, { name, arguments: { city: 'Rome' } });
      const observation = observationIn(frames, 'mcp');
      assert.equal(observation.cause, action?.id);
      assert.match(String(observation.content), /It is noon there\./);
      assert.deepEqual(ready.server.calls, [{ city: 'Rome' }]);
    },
  },
  {
    id: 'v0-rest/own-tool-servers-key',
    title: 'a key in `mcp_config` of a conversation leaves through no answer about it',
    cites: ['SV161'],
    async run(target) {
      const { id } = await converseWithTools(target);
      for (const path of ['', '/events?limit=100', '/trajectory', '/config'].map((end) => `/api/conversations/${id}${end}`))
        assert.ok(!(await target.ask('GET', path)).text.includes(KEY), `${path} has the key`);
      for (const path of ['/api/conversations?limit=100', '/api/settings'])
        assert.ok(!(await target.ask('GET', path)).text.includes(KEY), `${path} has the key`);
    },
  },
  {
    id: 'v0-rest/tool-servers',
    title:
      'the configuration of tool servers is strict, in settings and conversations: what does not fit is 422, and nothing is stored or made',
    cites: ['DL43', 'DL45', 'SV161'],
    async run(target) {
      const mcp_config = { sse_servers: [{ address: 'http://127.0.0.1:1' }] };
      for (const path of ['/api/settings', '/api/conversations']) hasStatus(await target.ask('POST', path, { body: { mcp_config } }), 422);
      hasStatus(await target.ask('POST', '/api/conversations', { body: { mcp_config: { shttp_servers: [{ url: 'nowhere' }] } } }), 422);
      assert.doesNotMatch((await target.ask('GET', '/api/settings')).text, /127\.0\.0\.1:1"/);
    },
  },
];
