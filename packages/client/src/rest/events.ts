import type {
  ConversationConfig,
  EventsPage,
  FeedbackAnswer,
  Microagents,
  RememberPrompt,
  SendAnswer,
  SubmitFeedback,
  VscodeUrl,
} from '@tendon/protocol';
import type { ActionPayload } from '../actions.ts';
import type { Request } from './request.ts';

const at = (id: string, rest: string) => `/api/conversations/${encodeURIComponent(id)}${rest}`;

/** A conversation's events by request, and what frontends of OpenHands ask of one. */
export function eventRoutes(request: Request) {
  return {
    /** Some of its events, as the filter of the route says. */
    events: (id: string, query: Readonly<Record<string, string | number | undefined>>, signal?: AbortSignal) =>
      request<EventsPage>(at(id, '/events'), { query, ...(signal && { signal }) }),
    /** To the agent, without a connection. With the `client_id` of an unanswered request it is recorded once. */
    sendMessage: (id: string, message: string, options: { readonly client_id?: string } = {}) =>
      request<SendAnswer>(at(id, '/message'), { method: 'POST', body: { message, ...options } }),
    /** Any action, without a connection. */
    send: (id: string, action: ActionPayload) => request<SendAnswer>(at(id, '/events'), { method: 'POST', body: action }),
    /** As OpenHands servers before 0.40 name `events`. */
    searchEvents: (id: string, query: Readonly<Record<string, string | number | undefined>>) =>
      request<EventsPage>(at(id, '/events/search'), { query }),
    /** All that an action printed, where the event has only its ends. */
    output: (id: string, action: number) => request<Blob>(at(id, `/events/${action}/output`), { asBlob: true }),
    config: (id: string) => request<ConversationConfig>(at(id, '/config')),
    /** An editor in the browser, where there is one. */
    editorUrl: (id: string) => request<VscodeUrl>(at(id, '/vscode-url')),
    microagents: (id: string) => request<Microagents>(at(id, '/microagents')),
    /** A prompt that asks to remember what was done up to this event. */
    rememberPrompt: (id: string, event: number) => request<RememberPrompt>(at(id, '/remember-prompt'), { query: { event_id: event } }),
    submitFeedback: (id: string, body: SubmitFeedback) => request<FeedbackAnswer>(at(id, '/submit-feedback'), { method: 'POST', body }),
    trajectory: (id: string) => request<{ readonly trajectory: readonly Record<string, unknown>[] }>(at(id, '/trajectory')),
  };
}
