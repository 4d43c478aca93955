import { z } from 'zod';

const flag = z.union([z.boolean(), z.stringbool()]);

/** `GET …/events`: ids `start_id` to `end_id` inclusive; `limit` outside 0…100 is 400 `{"detail":"Invalid limit"}`. */
export const EventsQuery = z.object({
  start_id: z.coerce.number().int().min(0).default(0),
  end_id: z.coerce.number().int().min(0).optional(),
  reverse: flag.default(false),
  limit: z.coerce.number().int().min(0).max(100).default(20),
});
export type EventsQuery = z.output<typeof EventsQuery>;

/** Events as the `openhands-v0` dialect writes them. */
export const EventsPage = z.object({ events: z.array(z.record(z.string(), z.unknown())), has_more: z.boolean() });
export type EventsPage = z.output<typeof EventsPage>;

export const Trajectory = z.object({ trajectory: z.array(z.record(z.string(), z.unknown())).nullable(), error: z.string().optional() });
export type Trajectory = z.output<typeof Trajectory>;

export const SendMessage = z.object({ message: z.string() });
export type SendMessage = z.output<typeof SendMessage>;

export const SendAnswer = z.object({ success: z.boolean() });
export type SendAnswer = z.output<typeof SendAnswer>;
