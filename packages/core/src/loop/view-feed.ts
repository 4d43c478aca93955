/**
 * Keeps the model's view in step with the log as long as the conversation is open. Nothing is read before the first turn; after it, a turn
 * costs what was appended since the one before.
 */
import type { LlmMessage } from '../llm/llm-provider.ts';
import { createView } from '../view/view.ts';
import type { Engine } from './engine.ts';

export interface ViewFeed {
  /** The messages of everything durable, which is every event before `nextId`. */
  messages(): Promise<{ readonly messages: readonly LlmMessage[]; readonly nextId: number }>;
  close(): void;
}

const PAGE = 500;

export function createViewFeed({ agent, log, folded }: Pick<Engine, 'agent' | 'log' | 'folded'>): ViewFeed {
  const view = createView(agent);
  const close = folded.onEvent((event) => {
    // While the stored events are still being read, those that come now are read with them.
    if (event.id === view.nextId) view.add(event);
  });
  return {
    close,
    async messages() {
      while (view.nextId < log.nextId) for (const event of await log.read({ from: view.nextId, limit: PAGE })) view.add(event);
      return { messages: view.project().messages, nextId: view.nextId };
    },
  };
}
