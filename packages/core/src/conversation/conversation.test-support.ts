/** A conversation on real memory storage, a scripted model and real bash, with words to wait for what the log shows. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  IllegalTransition,
  MessageAction,
  openhandsV0,
  type ActionDraft,
  type AgentState,
  type Event,
  type ParsedAction,
  type VolatileFrame,
} from '@tendon/protocol';
import { onTestFinished } from 'vitest';
import { createMask, type Secret } from '@tendon/protocol/masking';
import { lastOf, waitFor, Seen } from '@tendon/testing';
import { codeActAgent } from '../agents/code-act-agent.ts';
import type { Clock } from '../async/clock.ts';
import type { LlmProvider, LlmRequest } from '../llm/llm-provider.ts';
import { createScriptedProvider, type Script } from '../llm/scripted-provider.ts';
import { createViewFeed, type ViewFeed } from '../engine/view-feed.ts';
import { withLogMethods, type EventLog, type SourcedDraft } from '../log/event-log.ts';
import { createMemoryStorage } from '../storage/index.ts';
import type { Conversation, SubmitResult } from './conversation.ts';
import { createHostRuntimes, type HostRuntimes } from './host-runtimes.test-support.ts';
import { openConversation, type ConversationSettings, type OpenConversationOptions } from './open-conversation.ts';
import { openFold, type OpenedFold } from '../engine/open-fold.ts';
import { WriteRetry } from '../engine/write-retry.ts';

export const ID = '0123456789abcdef0123456789abcdef';

export const systemClock: Clock = {
  now: () => new Date(),
  sleep: (ms, { signal }) =>
    new Promise((resolve, reject) => {
      const timer = setTimeout(resolve, ms);
      signal.addEventListener('abort', () => (clearTimeout(timer), reject(signal.reason)), { once: true });
    }),
};

export interface Stage {
  readonly conversation: Conversation;
  readonly runtimes: HostRuntimes;
  readonly folder: string;
  readonly frames: readonly VolatileFrame[];
  readonly reported: readonly unknown[];
  /** The first frame from now on, or of those so far, that fits. */
  untilFrame(fits: (frame: VolatileFrame) => boolean): Promise<VolatileFrame>;
  /** A command of the agent or the user has begun to print. */
  untilOutput(text: string): Promise<VolatileFrame>;
  say(text: string): Promise<SubmitResult>;
  /** As a client's frame, through a dialect. */
  submit(action: ActionDraft): Promise<SubmitResult>;
  events(): Promise<readonly Event[]>;
  /** The first event from `from` on that fits. */
  until(fits: (event: Event) => boolean, from?: number): Promise<Event>;
  /** The next time the agent enters the state. */
  untilState(state: AgentState, from?: number): Promise<Event>;
}

type Extensions = NonNullable<OpenConversationOptions['extensions']>;

export interface StageOptions {
  readonly script?: Script;
  readonly provider?: LlmProvider;
  readonly llm?: () => Promise<LlmProvider>;
  readonly settings?: Partial<ConversationSettings>;
  readonly secrets?: readonly Secret[];
  readonly log?: EventLog;
  readonly runtimes?: HostRuntimes;
  readonly folder?: string;
  readonly preparesSandbox?: boolean;
  readonly snapshotEvery?: number;
  readonly clock?: Clock;
  readonly knowledge?: Extensions['knowledge'];
  readonly agent?: OpenConversationOptions['agent'];
  readonly delegate?: Extensions['delegate'];
  readonly past?: Extensions['past'];
  readonly notes?: Extensions['notes'];
  readonly external?: Extensions['external'];
  readonly hooks?: Extensions['hooks'];
  readonly invariant?: Extensions['invariant'];
  readonly smallLlm?: () => Promise<LlmProvider>;
}

export async function stage(options: StageOptions = {}): Promise<Stage> {
  const clock = options.clock ?? systemClock;
  const folder = options.folder ?? temporaryFolder();
  const runtimes = options.runtimes ?? createHostRuntimes(folder);
  const log = options.log ?? (await createMemoryStorage({ clock }).events.open(ID));
  const provider = options.provider ?? createScriptedProvider(options.script ?? [], { clock });
  const reported: unknown[] = [];
  const conversation = await openConversation({
    id: ID,
    log,
    agent: options.agent ?? codeActAgent,
    llm: options.llm ?? (async () => provider),
    ...(options.smallLlm && { smallLlm: options.smallLlm }),
    sandbox: { runtimes, ...(options.preparesSandbox && { prepares: true }) },
    extensions: {
      ...(options.delegate && { delegate: options.delegate }),
      ...(options.past && { past: options.past }),
      ...(options.notes && { notes: options.notes }),
      ...(options.external && { external: options.external }),
      ...(options.hooks && { hooks: options.hooks }),
      ...(options.invariant && { invariant: options.invariant }),
      ...(options.knowledge && { knowledge: options.knowledge }),
    },
    settings: {
      ...(options.snapshotEvery !== undefined && { snapshotEvery: options.snapshotEvery }),
      ...options.settings,
    },
    host: {
      clock,
      mask: createMask(options.secrets ?? []),
      report(error) {
        if (error instanceof IllegalTransition) throw error;
        reported.push(error);
      },
    },
  });
  onTestFinished(async () => {
    await conversation.close();
    await runtimes.stop(ID);
  });
  const seen = new Seen<VolatileFrame>();
  const untilFrame: Stage['untilFrame'] = (fits) => seen.until(fits);
  conversation.watch((frame) => seen.take(frame));
  const until: Stage['until'] = async (fits, from = 0) => {
    const following = new AbortController();
    const passed: Event[] = [];
    const found = async (): Promise<Event> => {
      for await (const event of log.follow(from, { signal: following.signal })) {
        passed.push(event);
        if (!fits(event)) continue;
        following.abort();
        return event;
      }
      throw new Error('the log ended');
    };
    return waitFor(found(), () => `${String(fits)}; ${lastOf(outline(passed))}`);
  };
  return {
    conversation,
    runtimes,
    folder,
    frames: seen.all,
    reported,
    untilFrame,
    untilOutput: (text) => untilFrame((frame) => frame.volatile === 'output' && frame.text.includes(text)),
    say: (text) => conversation.submit(MessageAction.create({ content: text })),
    async submit(action) {
      const decoded = openhandsV0.decode(action);
      if (decoded.type === 'error') return { ok: false, error: decoded.error };
      const isAction = decoded.type === 'action' || decoded.type === 'start';
      return conversation.submit(isAction ? decoded.action : (action as ParsedAction));
    },
    events: () => log.read(),
    until,
    untilState: (state, from) =>
      until((event) => 'observation' in event && event.observation === 'agent_state_changed' && event.extras.agent_state === state, from),
  };
}

export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'tendon-test-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** The same log; `before` sees each batch and may hold it back. */
export function watchAppends(log: EventLog, before: (drafts: readonly SourcedDraft[]) => unknown): EventLog {
  return withLogMethods(log, {
    async append(drafts, options) {
      await before(drafts);
      return log.append(drafts, options);
    },
  });
}

/** A log's fold as an opening computes it, and the resulting view of the model. */
export async function openedFold(log: EventLog): Promise<OpenedFold & { readonly view: ViewFeed }> {
  const ignore = (): void => undefined;
  const retry = new WriteRetry({ clock: systemClock, closing: new AbortController().signal, emit: ignore, report: ignore });
  const opened = await openFold(log, codeActAgent, { mask: createMask([]), retry });
  return { ...opened, view: createViewFeed({ agent: () => codeActAgent, log, folded: opened.folded }, opened.outline) };
}

/** The same log; `count` is how many events were read from it so far. */
export function countReads(log: EventLog): { readonly log: EventLog; readonly count: number } {
  let count = 0;
  const counted: EventLog = {
    ...watchAppends(log, () => undefined),
    get nextId() {
      return log.nextId;
    },
    async read(range) {
      const events = await log.read(range);
      count += events.length;
      return events;
    },
  };
  return {
    log: counted,
    get count() {
      return count;
    },
  };
}

/** One line per event: enough to read a log at a glance. */
export function outline(events: readonly Event[]): readonly string[] {
  return events.map((event) => {
    const cause = event.cause === undefined ? '' : `<${event.cause}`;
    if ('action' in event) return `${event.source} ${event.action}${cause}`;
    if ('unknown' in event) return `${event.source} ?`;
    const detail = event.observation === 'agent_state_changed' ? `:${event.extras.agent_state}` : '';
    return `${event.source} .${event.observation}${detail}${cause}`;
  });
}

/** A provider that holds each call until it is let go, and says when a call has come. */
export function gated(provider: LlmProvider): { readonly provider: LlmProvider; called(): Promise<LlmRequest>; letGo(): void } {
  let call = Promise.withResolvers<LlmRequest>();
  let gate = Promise.withResolvers<void>();
  const over = (): void => {
    gate.resolve();
    gate = Promise.withResolvers();
    call = Promise.withResolvers();
  };
  return {
    provider: {
      ...provider,
      async *stream(request, { signal }) {
        signal.addEventListener('abort', over, { once: true });
        const open = gate.promise;
        call.resolve(request);
        await open;
        signal.removeEventListener('abort', over);
        if (!signal.aborted) yield* provider.stream(request, { signal });
      },
    },
    called: () => call.promise,
    letGo: over,
  };
}

export function bash(command: string, more: Record<string, unknown> = {}) {
  return { toolCalls: [{ name: 'execute_bash', arguments: { command, ...more } }] };
}

/** Of the conversation, at its end; of a transcript, which has no tools. */
export function isSummaryRequest({ tools, messages }: LlmRequest): boolean {
  return tools.length === 0 || (messages.at(-1)?.text.startsWith('[Summary request]') ?? false);
}

export const done = { toolCalls: [{ name: 'finish', arguments: { message: 'Done.' } }] };
