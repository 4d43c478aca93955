/**
 * Keeps the model's view up to date with the log as long as the conversation is open. Nothing is read before the first turn; after it, a turn
 * reads only the events since the one before.
 */
import { isAction } from '@tendon/protocol';
import type { Agent } from '../agents/agent.ts';
import type { LlmMessage } from '../llm/llm-provider.ts';
import type { EventLog } from '../log/event-log.ts';
import { readById, readPages } from '../log/read-pages.ts';
import { filled, idsOf, type ViewOutline } from '../prompt/view-outline.ts';
import type { Excerpt } from '../prompt/assemble.ts';
import type { ViewEntry } from '../prompt/entry.ts';
import { View } from '../prompt/view.ts';
import type { FoldedLog } from './folded-log.ts';

export interface ViewMessages {
  readonly messages: readonly LlmMessage[];
  readonly excerpts: readonly Excerpt[];
  readonly nextId: number;
  /** What the messages were made of; not to be changed. */
  readonly entries: readonly ViewEntry[];
}

export interface ViewFeed {
  /** Where a later view can begin. */
  readonly outline: ViewOutline;
  /** The messages of everything durable, which is every event before `nextId`. */
  messages(options?: { readonly maxMessageChars: number }): Promise<ViewMessages>;
  close(): void;
}

interface FeedSources {
  /** The agent of the next turn. */
  readonly agent: () => Agent;
  readonly log: EventLog;
  readonly folded: FoldedLog;
}

/** `from`: where the view begins. A log that is empty is followed from the first event on. */
export function createViewFeed({ agent, log, folded }: FeedSources, from: ViewOutline): ViewFeed {
  let outline = from;
  let view = log.nextId === 0 ? new View(agent()) : undefined;
  const close = folded.onEvent((event) => {
    if (isAction(event) && event.action === 'condensation' && event.args.undoes !== undefined) {
      // What the view has dropped is in the log alone.
      outline = new View(agent()).outline;
      view = undefined;
    }
    // While the stored events are still being read, those that come now are read with them.
    if (event.id === view?.nextId) view.add(event);
  });
  return {
    get outline() {
      return view?.outline ?? outline;
    },
    close,
    async messages(options) {
      const current = (view ??= await viewFrom(outline, { agent, log, folded }));
      for await (const events of readPages(log, current.nextId)) for (const event of events) current.add(event);
      const { messages, excerpts } = current.project({ ...options, agent: agent() });
      return { messages, excerpts, nextId: current.nextId, entries: current.entries };
    },
  };
}

async function viewFrom(outline: ViewOutline, { agent, log, folded }: FeedSources): Promise<View> {
  const { undone } = folded.state.condensation;
  const events = await readById(log, idsOf(outline));
  try {
    return new View(agent(), filled(outline, events), undone);
  } catch {
    // The outline does not match the log, for whatever reason: build the view from the whole log.
    return new View(agent(), undefined, undone);
  }
}
