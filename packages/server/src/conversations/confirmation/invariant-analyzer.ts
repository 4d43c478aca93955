import { answeredBy, cutMiddle, isAction, isObservation, type Action, type ActionDraft, type Event } from '@tendon/protocol';
import { unanalyzed, type Analysis, type EventLog, type RiskAnalyzer } from '@tendon/core';
import type { Mask } from '@tendon/protocol/masking';
import { z } from 'zod';

export interface InvariantOptions {
  readonly url: URL;
  /** Names the session there. */
  readonly conversationId: string;
  readonly log: Pick<EventLog, 'read' | 'nextId'>;
  readonly mask: Pick<Mask, 'text'>;
}

const DEADLINE_MS = 10_000;
const MAX_ANSWER_BYTES = 256 * 1024;
/** What happened before them the policy is not shown. */
const MAX_EVENTS = 200;
const MAX_TEXT_CHARS = 8_000;
const RISKS: Readonly<Record<string, 0 | 1 | 2>> = { low: 0, medium: 1, high: 2 };

const MonitorId = z.object({ monitor_id: z.string().min(1).max(200) });
const Findings = z.array(z.string());

/** As a policy of Invariant reads it. */
type TraceElement =
  | { readonly role: 'user' | 'assistant'; readonly content: string }
  | { readonly id: string; readonly type: 'function'; readonly function: { readonly name: string; readonly arguments: unknown } }
  | { readonly role: 'tool'; readonly content: string; readonly tool_call_id: string };

/**
 * Has a server of Invariant check each action against its own policy, with what happened before. The monitor is made with the first
 * action, and anew where the server no longer knows it. A finding names its risk as `risk=…`; one that names none is of unknown risk.
 */
export function invariantAnalyzer({ url, conversationId, log, mask }: InvariantOptions): RiskAnalyzer {
  const session = `session_id=${conversationId}`;
  let monitor: Promise<string> | undefined;

  async function ask(path: string, signal: AbortSignal, body?: unknown): Promise<unknown> {
    const response = await fetch(new URL(path, withSlash(url)), {
      method: body === undefined ? 'GET' : 'POST',
      redirect: 'error',
      signal,
      ...(body !== undefined && { body: mask.text(JSON.stringify(body)), headers: { 'content-type': 'application/json' } }),
    });
    const text = await boundedText(response);
    if (!response.ok) throw new Error(`it answered ${response.status}`);
    return JSON.parse(text) as unknown;
  }

  async function makeMonitor(signal: AbortSignal): Promise<string> {
    await ask(`session/new?${session}`, signal);
    const rule = z.string().parse(await ask('policy/template', signal));
    return MonitorId.parse(await ask(`monitor/new?${session}`, signal, { rule })).monitor_id;
  }

  async function check(action: ActionDraft, signal: AbortSignal, isRepeated = false): Promise<Analysis> {
    monitor ??= makeMonitor(signal);
    const own = monitor;
    try {
      // Together: neither may fail while nobody waits for it.
      const [trace, id] = await Promise.all([past(log), own]);
      const pending = callOf(action, String(trace.calls + 1));
      const body = { past_events: trace.elements, pending_events: pending };
      return riskOf(Findings.parse(await ask(`monitor/${encodeURIComponent(id)}/check?${session}`, signal, body)));
    } catch (error) {
      // The next attempt begins from the session: the server may have forgotten both.
      if (monitor === own) monitor = undefined;
      if (signal.aborted || isRepeated) throw error;
      return check(action, signal, true);
    }
  }

  return {
    async analyze(action, signal) {
      const deadline = AbortSignal.timeout(DEADLINE_MS);
      try {
        return await check(action, AbortSignal.any([signal, deadline]));
      } catch (error) {
        return unanalyzed(deadline.aborted ? `${url.host} did not answer within ${DEADLINE_MS / 1000} seconds` : reasonOf(error, url));
      }
    },
  };
}

function riskOf(findings: readonly string[]): Analysis {
  const risks = findings.map(highestIn);
  if (risks.includes(2)) return { risk: 2 };
  if (risks.includes(undefined)) return unanalyzed('a finding of the policy names no risk');
  return { risk: risks.includes(1) ? 1 : 0 };
}

/** What a finding quotes of an action may hold the word too. */
function highestIn(finding: string): 0 | 1 | 2 | undefined {
  const named = [...finding.matchAll(/risk=(\w+)/g)].flatMap(([, word]) => RISKS[word!] ?? []);
  return named.toSorted().at(-1);
}

function reasonOf(error: unknown, { host }: URL): string {
  if (error instanceof z.ZodError || error instanceof SyntaxError) return `${host} answered with something else than a server of Invariant`;
  const { message, cause } = error as Error;
  return `${host} could not be asked: ${cause instanceof Error ? cause.message : message}`;
}

function withSlash(url: URL): string {
  return url.href.endsWith('/') ? url.href : `${url.href}/`;
}

async function boundedText(response: Response): Promise<string> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of response.body ?? []) {
    bytes += part.length;
    if (bytes > MAX_ANSWER_BYTES) throw new Error(`its answer is larger than ${MAX_ANSWER_BYTES / 1024} KiB`);
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}

async function past(log: InvariantOptions['log']): Promise<{ readonly elements: readonly TraceElement[]; readonly calls: number }> {
  const events = await log.read({ from: Math.max(0, log.nextId - MAX_EVENTS), limit: MAX_EVENTS });
  const names = new Map<number, string>();
  const elements = events.flatMap((event): readonly TraceElement[] => {
    if (!isAction(event)) return resultOf(event, names);
    if (event.action === 'message') return [{ role: event.source === 'user' ? 'user' : 'assistant', content: cut(event.args.content) }];
    if (!isCall(event)) return [];
    names.set(event.id, String(names.size + 1));
    return callOf(event, names.get(event.id)!);
  });
  return { elements, calls: names.size };
}

/** Not its prompt, and not what only the conversation itself is about. */
function isCall({ action }: Pick<Action, 'action'>): boolean {
  return answeredBy(action) !== 'none' && action !== 'recall';
}

function callOf({ action, args }: Pick<ActionDraft, 'action' | 'args'>, id: string): readonly TraceElement[] {
  const { thought, ...rest } = args as Readonly<Record<string, unknown>>;
  const call: TraceElement = { id, type: 'function', function: { name: action, arguments: rest } };
  return typeof thought === 'string' && thought !== '' ? [{ role: 'assistant', content: cut(thought) }, call] : [call];
}

/** Of a call before the first of these events the policy is not shown the result either. */
function resultOf(event: Event, names: ReadonlyMap<number, string>): readonly TraceElement[] {
  const name = isObservation(event) && event.cause !== undefined ? names.get(event.cause) : undefined;
  return name === undefined || !isObservation(event) ? [] : [{ role: 'tool', content: cut(event.content), tool_call_id: name }];
}

function cut(text: string): string {
  return cutMiddle(text, { limit: MAX_TEXT_CHARS });
}
