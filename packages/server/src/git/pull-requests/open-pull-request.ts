import type { GitProvider } from '@tendon/protocol';
import type { Conversations } from '../../conversations/conversations.ts';
import type { GitAccounts, ProviderLogin } from '../../git-providers/provider-tokens.ts';
import { providerApiFor } from '../../git-providers/apis/ask-providers.ts';
import { failureIn, providerFailureOf } from '../../git-providers/apis/provider-fetch.ts';
import type { PullRequest, PullRequestParams } from '../../git-providers/apis/provider-api.ts';
import { PULL_REQUEST_NAMES } from './pull-request-names.ts';
import { PULL_REQUEST_TOOLS } from './pull-request-tools.ts';

export interface PullRequestParts {
  readonly providerTokens: Pick<GitAccounts, 'logins'>;
  readonly conversations: Pick<Conversations, 'get' | 'notePullRequest'>;
}

export interface PullRequestCall {
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
  /** In which it is noted; a call from outside may name none. */
  readonly conversation: string | undefined;
}

/** `text` is the address, with a remark below it when there is one; `problem` one sentence for who called. */
export type PullRequestAnswer = { readonly ok: true; readonly text: string } | { readonly ok: false; readonly problem: string };

const NAMES: Readonly<Record<GitProvider, string>> = { github: 'GitHub', gitlab: 'GitLab', bitbucket: 'Bitbucket' };

/** Carries out a call of one of the tools. Nothing is opened when anything about the call is wrong. */
export async function openPullRequest({ name, args, conversation }: PullRequestCall, parts: PullRequestParts): Promise<PullRequestAnswer> {
  const provider = PULL_REQUEST_NAMES.get(name);
  const known = PULL_REQUEST_TOOLS.find(({ tool }) => tool.spec.name === name);
  if (!provider || !known) return failed(`There is no tool "${name}".`);
  const checked = known.tool.toAction(args);
  if (!checked.ok) return failed(checked.error);
  if (conversation !== undefined && !(await parts.conversations.get(conversation)))
    return failed(`There is no conversation ${conversation}.`);
  const login = parts.providerTokens.logins.find((one) => one.provider === provider);
  if (!login) return failed(`There is no token for ${NAMES[provider]}. Store one in the settings, then call ${name} again.`);
  const answer = await ask(login, known.toParams(args));
  if (typeof answer === 'string') return failed(answer);
  if (conversation !== undefined) await parts.conversations.notePullRequest(conversation, answer.number);
  return { ok: true, text: answer.remark ? `${answer.url}\n${answer.remark}` : answer.url };
}

/** The pull request, or why there is none. */
async function ask(login: ProviderLogin, params: PullRequestParams): Promise<PullRequest | string> {
  const { pullRequests } = await providerApiFor(login);
  try {
    return await pullRequests.open(params);
  } catch (thrown) {
    const failure = failureIn(thrown);
    // It may be open all the same: by this request, whose answer was lost, or by one before it.
    const mayBeOpen = failure === undefined || failure.code === 'PROVIDER_FAILED';
    const found = mayBeOpen ? await pullRequests.find(params).catch(() => undefined) : undefined;
    if (found) return found;
    if (failure?.providerMessage !== undefined) return `${NAMES[login.provider]} did not open it: ${failure.providerMessage}`;
    return providerFailureOf(login.provider, thrown).error.message;
  }
}

function failed(problem: string): PullRequestAnswer {
  return { ok: false, problem };
}
