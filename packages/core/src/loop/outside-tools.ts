import { type Action, type ObservationDraft } from '@tendon/protocol';
import type { Tool } from '../tools/tool.ts';
import type { Engine } from './engine.ts';
import { notice, outcomeUnknown } from './notices.ts';

/** Tools that somebody outside the engine offers and carries out: servers of the Model Context Protocol. Neither call ever rejects. */
export interface OutsideTools {
  /** What is offered now; a server that can not be reached offers nothing and holds nothing up for long. */
  offered(options: { readonly signal: AbortSignal }): Promise<readonly Tool[]>;
  /** Carries it out once. Aborting cancels it and still resolves. */
  call(action: Action<'call_tool_mcp'>, options: { readonly signal: AbortSignal }): Promise<ObservationDraft>;
  /** With the conversation. */
  close(): Promise<void>;
}

/**
 * The observation; nothing when this process is leaving. A call that was pending when the log was opened may have been made by the
 * process before: it is not made again.
 */
export async function calledOutside(engine: Engine, action: Action<'call_tool_mcp'>): Promise<ObservationDraft | undefined> {
  if (!engine.outside) return notice.unavailable;
  if (engine.inherited.has(action.id)) return outcomeUnknown('the server ended while it may have been under way');
  const { signal, end } = engine.aborts.beginAction();
  const left = Promise.withResolvers<undefined>();
  const leave = (): void => left.resolve(undefined);
  engine.aborts.closing.addEventListener('abort', leave, { once: true });
  try {
    return await Promise.race([engine.outside.call(action, { signal }), left.promise]);
  } finally {
    end();
    engine.aborts.closing.removeEventListener('abort', leave);
  }
}
