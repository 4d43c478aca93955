import { z } from 'zod';
import { MAX_CLIENT_ID_CHARS } from '../event.ts';

const flag = z.union([z.boolean(), z.stringbool()]);
const kinds = z.union([z.array(z.string().max(100)).max(100), z.string().transform((text) => text.split(',').map((kind) => kind.trim()))]);
const date = z.string().refine((text) => !Number.isNaN(Date.parse(text)), 'a date is expected');

/** Which events are wanted; in the query, or, as 0.62 declares it, in the body of the GET. Everything given must hold. */
export const EventFilter = z.object({
  exclude_hidden: flag.nullish(),
  /** Anywhere in the event, in any letter case. */
  query: z.string().max(1_000).nullish(),
  /** `run`, `message`, …; a list, or text with commas. */
  include_types: kinds.nullish(),
  exclude_types: kinds.nullish(),
  source: z.string().max(100).nullish(),
  /** ISO 8601, both inclusive. */
  start_date: date.nullish(),
  end_date: date.nullish(),
});
export type EventFilter = z.output<typeof EventFilter>;

/** `GET …/events`: ids `start_id` to `end_id` inclusive; `limit` outside 0…100 is 400 `{"detail":"Invalid limit"}`. */
export const EventsQuery = EventFilter.extend({
  start_id: z.coerce.number().int().min(0).default(0),
  end_id: z.coerce.number().int().min(0).optional(),
  reverse: flag.default(false),
  limit: z.coerce.number().int().min(0).max(100).default(20),
  /** 0.25 calls one wanted kind so. */
  event_type: z.string().max(100).optional(),
});
export type EventsQuery = z.output<typeof EventsQuery>;

/** Events as the `openhands-v0` dialect writes them. */
export const EventsPage = z.object({ events: z.array(z.record(z.string(), z.unknown())), has_more: z.boolean() });
export type EventsPage = z.output<typeof EventsPage>;

export const Trajectory = z.object({ trajectory: z.array(z.record(z.string(), z.unknown())).nullable(), error: z.string().optional() });
export type Trajectory = z.output<typeof Trajectory>;

/** `client_id`, ours: the caller's own id for the message, which identifies it when it is sent again. */
export const SendMessage = z.object({ message: z.string(), client_id: z.string().min(1).max(MAX_CLIENT_ID_CHARS).nullish() });
export type SendMessage = z.output<typeof SendMessage>;

/** `event_id`, ours: the id of the message's event; the same when the message was sent again. */
export const SendAnswer = z.object({ success: z.boolean(), event_id: z.number().int().optional() });
export type SendAnswer = z.output<typeof SendAnswer>;

/** What a person thinks of a conversation. */
export const SubmitFeedback = z.object({
  email: z.string().max(320).nullish(),
  version: z.string().max(100).nullish(),
  permissions: z.string().max(100).nullish(),
  polarity: z.string().max(100).nullish(),
  feedback: z.string().max(10_000).nullish(),
});
export type SubmitFeedback = z.output<typeof SubmitFeedback>;

const StoredFeedback = z.object({ message: z.string(), feedback_id: z.string(), password: z.string() });

/** Frontends of every release read `body`, and break without it. */
export const FeedbackAnswer = StoredFeedback.extend({ statusCode: z.literal(200), body: StoredFeedback });
export type FeedbackAnswer = z.output<typeof FeedbackAnswer>;

export const RememberPrompt = z.object({ status: z.literal('success'), prompt: z.string() });
export type RememberPrompt = z.output<typeof RememberPrompt>;
