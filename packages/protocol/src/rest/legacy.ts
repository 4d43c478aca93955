import { z } from 'zod';

/** `GET /api/auth` of spring 2024, and the first frame of `/ws` from 0.6 on. */
export const TokenAnswer = z.object({ token: z.string(), status: z.literal('ok') });
export type TokenAnswer = z.output<typeof TokenAnswer>;

export const MessagesTotal = z.object({ msg_total: z.number().int() });
export type MessagesTotal = z.output<typeof MessagesTotal>;

/** The frames of both directions that 0.3.x replays when a session is resumed. */
export const StoredMessages = z.object({
  messages: z.array(z.object({ id: z.string(), role: z.enum(['user', 'assistant']), payload: z.record(z.string(), z.unknown()) })),
});
export type StoredMessages = z.output<typeof StoredMessages>;

export interface NamedTree {
  readonly name: string;
  readonly children: readonly NamedTree[];
}
/** `GET /api/refresh-files` of 0.3.x. */
export const NamedTree: z.ZodType<NamedTree> = z.lazy(() => z.object({ name: z.string(), children: z.array(NamedTree) }));
