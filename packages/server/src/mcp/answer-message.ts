/**
 * The server as an MCP server: one message of the Model Context Protocol, answered by a server that lives as long as this
 * answer. There are no sessions, so whatever comes first is served, and nothing is held for who does not come back.
 */
import { setTimeout } from 'node:timers/promises';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { ErrorCode, ListToolsRequestSchema, McpError, type CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';
import { openPullRequest, type PullRequestAnswer, type PullRequestParts } from '../git/pull-requests/open-pull-request.ts';
import { PULL_REQUEST_NAMES } from '../git/pull-requests/pull-request-names.ts';
import { PULL_REQUEST_TOOLS } from '../git/pull-requests/pull-request-tools.ts';
import { VERSION } from '../platform/version.ts';

export interface McpMessage {
  /** As it was parsed; anything may be in it. */
  readonly body: unknown;
  /** The header `MCP-Protocol-Version`, which the first message is without. */
  readonly protocolVersion: string | undefined;
  /** Where what is opened is noted. */
  readonly conversation: string | undefined;
}

/** Longer than a provider may take for all that one call asks of it. */
const ANSWER_MS = 60_000;
/** What 0.62 gives beside the text. */
const OUTPUT = { type: 'object' as const, properties: { result: { type: 'string' } }, required: ['result'] };

/** What does not fit is refused before, with `InvalidParams`; the library's own schema would report it as a fault of ours. */
const AnyCall = z.object({ method: z.literal('tools/call'), params: z.unknown().optional() });
const Call = z.object({ name: z.string(), arguments: z.record(z.string(), z.unknown()).default({}) });

/** Never rejects for what is in the message. */
export async function answerMessage(message: McpMessage, parts: PullRequestParts): Promise<Response> {
  const server = mcpServer(message.conversation, parts);
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
  // Its optional members are written for compilers that take `undefined` for absent.
  await server.connect(transport as Transport);
  const over = new AbortController();
  try {
    return await Promise.race([transport.handleRequest(requestFor(message), { parsedBody: message.body }), tooLate(over.signal)]);
  } finally {
    over.abort();
    await server.close();
  }
}

function mcpServer(conversation: string | undefined, parts: PullRequestParts): Server {
  const server = new Server({ name: 'tendon', version: VERSION }, { capabilities: { tools: {} } });
  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: PULL_REQUEST_TOOLS.map(({ tool: { spec } }) => ({
      name: spec.name,
      description: spec.description,
      inputSchema: spec.parameters as { type: 'object' },
      outputSchema: OUTPUT,
    })),
  }));
  server.setRequestHandler(AnyCall, async ({ params }) => {
    const { name, arguments: args } = Call.parse(params);
    if (!PULL_REQUEST_NAMES.has(name)) throw new McpError(ErrorCode.InvalidParams, `There is no tool "${name.slice(0, 100)}".`);
    return resultOf(await openPullRequest({ name, args, conversation }, parts));
  });
  return server;
}

function resultOf(answer: PullRequestAnswer): CallToolResult {
  if (!answer.ok) return { content: [{ type: 'text', text: answer.problem }], isError: true };
  return { content: [{ type: 'text', text: answer.text }], structuredContent: { result: answer.text } };
}

/** The library wants clients to say that they also take streams; here nothing is ever streamed. */
function requestFor({ protocolVersion }: McpMessage): Request {
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
  return new Request('http://localhost/mcp/mcp', {
    method: 'POST',
    headers: { ...headers, ...(protocolVersion !== undefined && { 'mcp-protocol-version': protocolVersion }) },
  });
}

async function tooLate(signal: AbortSignal): Promise<Response> {
  await setTimeout(ANSWER_MS, undefined, { signal, ref: false }).catch(() => undefined);
  const error = { code: ErrorCode.RequestTimeout, message: `there is no answer after ${ANSWER_MS / 1000} seconds` };
  return Response.json({ jsonrpc: '2.0', id: null, error }, { status: 504 });
}
