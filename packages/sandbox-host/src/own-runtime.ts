import type { Runtime } from '@tendon/core';
import type { FastifyReply } from 'fastify';
import { failureWith } from '@tendon/server/platform';
import { wordsOf } from '@tendon/server/sandboxes';
import type { HostContext } from './host-context.ts';

const START_MS = 60_000;

/** The sandbox of the root routes; where it cannot be had the answer is sent, and `undefined` given. */
export async function ownRuntime({ sandboxes, logger }: HostContext, reply: unknown): Promise<Runtime | undefined> {
  try {
    return await sandboxes.own(AbortSignal.timeout(START_MS));
  } catch (cause) {
    logger.warn({ err: cause }, 'the sandbox did not start');
    await (reply as FastifyReply).code(503).send(failureWith(wordsOf(cause)));
    return undefined;
  }
}
