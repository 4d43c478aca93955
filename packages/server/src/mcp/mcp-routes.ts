import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import type { App, Routes } from '../platform/http/app.ts';
import type { OwnedGitAccounts } from '../git-providers/owned-git-accounts.ts';
import { ownedByCaller } from '../platform/auth/own-scope.ts';
import type { Conversations } from '../conversations/conversations.ts';
import type { Logger } from '../platform/logger.ts';
import type { PullRequestParts } from '../git/pull-requests/open-pull-request.ts';

/** Far more than a pull request's text may have. */
const MAX_BYTES = 1024 * 1024;
/** Codes of JSON-RPC. */
const PARSE_ERROR = -32_700;
const INVALID_REQUEST = -32_600;
const INTERNAL_ERROR = -32_603;

const SUMMARY = 'Tools that open pull requests, by the Model Context Protocol (streamable HTTP, without sessions)';

interface McpContext extends Omit<PullRequestParts, 'providerTokens'> {
  readonly gitAccounts: Pick<OwnedGitAccounts, 'of'>;
  readonly logger: Logger;
  readonly conversations: PullRequestParts['conversations'] & Pick<Conversations, 'visibility'>;
}

/** The server's own tools at the address of 0.62, for agents of whichever program. */
export const mcpRoutes: Routes<McpContext> = (app, context) => {
  const errorHandler = failing(context);

  app.post(
    '/mcp/mcp',
    { bodyLimit: MAX_BYTES, errorHandler, schema: { summary: SUMMARY } },
    async ({ body, headers, principal }, reply) => {
      if (typeof body !== 'object' || body === null || Array.isArray(body)) {
        return sendError(reply, 400, INVALID_REQUEST, 'one message of JSON-RPC 2.0 is expected');
      }
      const { answerMessage } = await import('./answer-message.ts');
      const version = headers['mcp-protocol-version'];
      const named = conversationOf(headers);
      const conversation = named !== undefined && (await context.conversations.visibility.sees(principal, named)) ? named : undefined;
      const message = { body, protocolVersion: typeof version === 'string' ? version : undefined, conversation };
      const answer = await answerMessage(message, { ...context, providerTokens: context.gitAccounts.of(ownedByCaller(principal)) });
      const type = answer.headers.get('content-type');
      if (type !== null) void reply.type(type);
      return reply.code(answer.status).send(await answer.text());
    },
  );

  refuseStreams(app);
};

/** There is nothing to listen to, and no session to end: clients know this answer. */
function refuseStreams(app: App): void {
  for (const method of ['GET', 'DELETE'] as const) {
    app.route({
      method,
      url: '/mcp/mcp',
      handler: (_request, reply) => sendError(reply.header('allow', 'POST'), 405, INVALID_REQUEST, 'messages are sent with POST'),
    });
  }
}

/** As agents of 0.62 name theirs; 32 hexadecimal digits, or a UUID, which is the same. */
function conversationOf(headers: FastifyRequest['headers']): string | undefined {
  const given = headers['x-openhands-serverconversation-id'];
  return typeof given === 'string' && given !== '' ? given.slice(0, 100).replaceAll('-', '').toLowerCase() : undefined;
}

/** What is wrong with a request, in the words of JSON-RPC. */
function failing({ logger }: McpContext) {
  return (error: FastifyError, _request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    if (error instanceof SyntaxError || error.code === 'FST_ERR_CTP_INVALID_JSON_BODY') {
      return sendError(reply, 400, PARSE_ERROR, 'this is no JSON');
    }
    const { statusCode = 500 } = error;
    if (statusCode < 500) return sendError(reply, statusCode, INVALID_REQUEST, error.message);
    logger.error({ err: error }, 'a message to the tools failed');
    return sendError(reply, 500, INTERNAL_ERROR, 'Internal error');
  };
}

function sendError(reply: FastifyReply, status: number, code: number, message: string): FastifyReply {
  return reply.code(status).send({ jsonrpc: '2.0', id: null, error: { code, message } });
}
