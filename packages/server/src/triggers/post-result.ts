import type { GitProvider } from '@tendon/protocol';
import { providerApiFor } from '../git-providers/apis/ask-providers.ts';
import { failureIn, providerFailureOf } from '../git-providers/apis/provider-fetch.ts';
import type { ProviderLogin } from '../git-providers/provider-tokens.ts';
import type { StoredDelivery } from './delivery-store.ts';
import { COMMENT_MARK } from './mention.ts';
import type { DeliveryPorts } from './run-delivery.ts';

const NAMES: Readonly<Record<GitProvider, string>> = { github: 'GitHub', gitlab: 'GitLab', bitbucket: 'Bitbucket' };
const MAX_ATTEMPTS = 10;
const FIRST_WAIT_MS = 2_000;
const MAX_WAIT_MS = 600_000;
/** GitHub refuses a longer comment. */
const MAX_CHARS = 60_000;
/** Clocks differ, so the search for an existing comment begins this much earlier. */
const CLOCKS_DIFFER_MS = 3_600_000;
/** Errors that a retry cannot help. */
const FINAL: ReadonlySet<string> = new Set(['PROVIDER_REFUSED', 'PROVIDER_NOT_FOUND', 'NOT_IMPLEMENTED']);

type Ports = Pick<DeliveryPorts, 'store' | 'deliveries' | 'gitAccounts' | 'clock' | 'mask'>;

/**
 * Posts the result where the delivery came from, and retries while the provider cannot be reached. Each comment carries the delivery's
 * mark and is looked for before it is posted, so that an interrupted attempt does not lead to a second one. Rejects when `signal` aborts.
 */
export async function postResult(delivery: StoredDelivery, ports: Ports, signal: AbortSignal): Promise<void> {
  const { deliveries, clock } = ports;
  for (let attempt = 1; ; attempt++) {
    const outcome = await post(delivery, ports);
    if ('url' in outcome) return void (await deliveries.change(delivery, { state: 'done', detail: null, comment_url: outcome.url }));
    const isLast = outcome.isFinal || attempt === MAX_ATTEMPTS;
    const stored = await deliveries.change(delivery, { ...(isLast && { state: 'failed' as const }), detail: outcome.reason });
    if (isLast || !stored) return;
    const wait = outcome.retryAfterSeconds === undefined ? FIRST_WAIT_MS * 2 ** (attempt - 1) : outcome.retryAfterSeconds * 1000;
    await clock.sleep(Math.min(wait, MAX_WAIT_MS), { signal });
  }
}

interface PostFailure {
  readonly reason: string;
  readonly isFinal: boolean;
  readonly retryAfterSeconds?: number | undefined;
}

async function post(
  { id, trigger, task, result, received_at }: StoredDelivery,
  { store, gitAccounts, mask }: Ports,
): Promise<{ readonly url: string } | PostFailure> {
  const target = task?.post_to;
  if (!target) return { reason: 'there is no place for its result', isFinal: true };
  const { git_provider: provider, repository, number, is_pull_request: isPullRequest } = target;
  const login: ProviderLogin | undefined = gitAccounts
    .of((await store.find(trigger)) ?? {})
    .logins.find((one) => one.provider === provider);
  if (!login)
    return { reason: `the result was not posted: there is no token for ${NAMES[provider]}. Store one in the settings`, isFinal: true };
  const place = { repository, number, isPullRequest };
  const mark = `${COMMENT_MARK} ${id} -->`;
  try {
    const { comments } = await providerApiFor(login);
    const since = new Date(Date.parse(received_at) - CLOCKS_DIFFER_MS).toISOString();
    const body = `${mask.text(result ?? '').slice(0, MAX_CHARS)}\n\n${mark}`;
    return { url: (await comments.find(place, mark, since)) ?? (await comments.post(place, body)) };
  } catch (thrown) {
    const { error, retryAfterSeconds } = providerFailureOf(provider, thrown);
    const words = failureIn(thrown)?.providerMessage;
    return { reason: `the result was not posted: ${words ?? error.message}`, isFinal: FINAL.has(error.code), retryAfterSeconds };
  }
}
