import type { ExternalTools } from '@tendon/core';
import { unlessAborted } from '@tendon/protocol/async';
import { ErrorObservation, McpObservation, type ObservationDraft } from '@tendon/protocol';
import type { PullRequestAnswer, PullRequestParts } from './open-pull-request.ts';
import { PULL_REQUEST_NAMES } from './pull-request-names.ts';

/**
 * What an agent opens pull requests with: the tools of the providers that have a token at that moment. Where there is none, and so
 * at every start of a server, nothing of it is loaded.
 */
export function offeredPullRequests(conversation: string, parts: PullRequestParts): Pick<ExternalTools, 'offered' | 'call'> {
  return {
    async offered() {
      const providers = new Set(parts.providerTokens.logins.map(({ provider }) => provider));
      if (providers.size === 0) return [];
      const { PULL_REQUEST_TOOLS } = await import('./pull-request-tools.ts');
      return PULL_REQUEST_TOOLS.filter(({ tool: { spec } }) => providers.has(PULL_REQUEST_NAMES.get(spec.name)!)).map(({ tool }) => tool);
    },
    async call({ args: { name, arguments: args } }, { signal }) {
      const { openPullRequest } = await import('./open-pull-request.ts');
      if (signal.aborted) return failed('Not executed: it was cancelled.');
      const opening = openPullRequest({ name, args, conversation }, parts).catch(uncertain);
      // What has begun goes on to its end, and is recorded; the caller that cancelled it does not wait.
      const answer = (await unlessAborted(opening, signal)) ?? CANCELLED;
      if (answer.ok) return McpObservation.create(answer.text, { name, arguments: args });
      return failed(answer.problem);
    },
  };
}

/** It could not be noted, say. Called again, what is open is found. */
function uncertain(cause: unknown): PullRequestAnswer {
  return { ok: false, problem: `It may have been opened: ${(cause as Error).message}` };
}

const CANCELLED = { ok: false, problem: 'It was cancelled. It may have been opened all the same.' } as const satisfies PullRequestAnswer;

function failed(problem: string): ObservationDraft {
  return ErrorObservation.create(problem, { error_id: 'AGENT_ERROR$MCP' });
}
