import type { CDPSession, Frame, Page } from 'playwright-core';
import { within } from './within.ts';

type InPage<A, R> = (argument: A) => R | Promise<R>;

/** The protocol of one page, or of a frame that has a process of its own, with a deadline for every question. */
export interface PageSession {
  readonly send: CDPSession['send'];
  /** The frame at its root. */
  readonly frameId: string;
  /** Runs a self-contained function in a world of its own beside the page's scripts; `prelude` is evaluated there first. */
  run<A, R>(inPage: InPage<A, R>, argument: A, prelude?: string): Promise<R>;
  close(): Promise<void>;
}

export const ANSWER_MS = 8000;
const WORLD = 'tendon';

/** Throws when the page is gone, and for a frame that shares its parent's process. */
export async function openPageSession(of: Page | Frame, page: Page): Promise<PageSession> {
  const session = await within(ANSWER_MS, page.context().newCDPSession(of));
  const send = ((method: Parameters<CDPSession['send']>[0], params?: object) =>
    within(ANSWER_MS, session.send(method, params as never))) as CDPSession['send'];
  const { frameTree } = await send('Page.getFrameTree');
  const frameId = frameTree.frame.id;

  async function evaluate(contextId: number, expression: string): Promise<unknown> {
    const { result, exceptionDetails } = await send('Runtime.evaluate', { expression, contextId, awaitPromise: true, returnByValue: true });
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value;
  }

  return {
    send,
    frameId,
    async run<A, R>(inPage: InPage<A, R>, argument: A, prelude?: string): Promise<R> {
      const { executionContextId } = await send('Page.createIsolatedWorld', { frameId, worldName: WORLD });
      if (prelude !== undefined) await evaluate(executionContextId, `${prelude};0`);
      return (await evaluate(executionContextId, `(${inPage.toString()})(${JSON.stringify(argument)})`)) as R;
    },
    close: () => session.detach().catch(() => {}),
  };
}
