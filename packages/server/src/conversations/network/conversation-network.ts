import { catalogError, type CatalogError, type NetworkMode, type NetworkQuestion, type NetworkParams } from '@tendon/protocol';
import { hostPattern, isWider, type NetworkPolicy } from '@tendon/runtime';

/** What is stored of the network that a conversation asked for, or in the settings for all of them. */
export interface StoredNetwork {
  readonly mode?: NetworkMode;
  readonly allow: readonly string[];
}

/** What is stored, in a conversation's record, of what its sandbox asks of a person. */
export interface StoredQuestions {
  readonly open: readonly NetworkQuestion[];
  /** Hosts, the latest last. */
  readonly refused: readonly string[];
}

export interface NetworkRules {
  /** The operator's: the most that a conversation can have. */
  readonly network: NetworkPolicy;
  /** Whether the driver's only egress is our proxy. */
  readonly isPoliced: boolean;
  /** What the settings say now. */
  readonly settings?: () => StoredNetwork;
}

export type CheckedNetwork = { readonly ok: true; readonly network: StoredNetwork } | { readonly ok: false; readonly error: CatalogError };

/** The network that can be stored, or why it cannot: never less than was asked for, and never more than the operator gives. */
export function checkNetworkParams({ network, isPoliced }: NetworkRules, { mode, allow }: NetworkParams): CheckedNetwork {
  const given = allow ?? [];
  const bad = given.find((host) => hostPattern(host) === undefined);
  if (bad !== undefined) return refused(`network.allow: "${bad}" is neither a name nor *.name`);
  if (mode && isWider(mode, network.mode)) return refused(`network.mode: this server gives ${network.mode} at most (SANDBOX_NETWORK)`);
  if (mode && mode !== 'full' && !isPoliced)
    return refused(`network.mode: without a sandbox (RUNTIME) nothing can hold back connections, so only full is possible`);
  return { ok: true, network: { ...(mode && { mode }), allow: given.map((host) => hostPattern(host)!) } };
}

/** As of now: the settings may have changed since, and the operator may have narrowed it. */
export function networkPolicy({ network, settings }: Omit<NetworkRules, 'isPoliced'>, stored: StoredNetwork | undefined): NetworkPolicy {
  const general = settings?.();
  const requested = stored?.mode ?? general?.mode ?? network.mode;
  const mode = isWider(requested, network.mode) ? network.mode : requested;
  const allow = [...new Set([...network.allow, ...(general?.allow ?? []), ...(stored?.allow ?? [])])];
  return { mode, allow, allowPrivate: network.allowPrivate };
}

function refused(reason: string): CheckedNetwork {
  return { ok: false, error: catalogError('INVALID_ARGUMENTS', reason) };
}
