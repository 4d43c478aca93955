import type { IncomingMessage } from 'node:http';
import { WS_DIALECTS, type AgentState, type ConversationState, type Frame, type WsDialect } from '@tendon/protocol';

/** What an upgrade of `/ws` says about its client. */
export interface WsRequest {
  /** opendevin-2024-11 offers `openhands`, its token and its GitHub token as subprotocols. */
  readonly isProtocol: boolean;
  /** opendevin-2024-11 with fewer than three of them. */
  readonly isRefused: boolean;
  readonly token: string | undefined;
  readonly latestEventId: string | null;
  /** Nothing shows that it is later than opendevin-2024-03, which is greeted at once. */
  readonly isGreeted: boolean;
}

export function readWsRequest(request: Pick<IncomingMessage, 'url' | 'headers'>): WsRequest {
  const query = new URLSearchParams(request.url?.split('?').slice(1).join('?'));
  const offered = request.headers['sec-websocket-protocol']?.split(',').map((value) => value.trim()) ?? [];
  const isProtocol = offered[0] === 'openhands';
  const given = isProtocol ? offered[1] : (query.get('token') ?? undefined);
  return {
    isProtocol,
    isRefused: isProtocol && offered.length < 3,
    token: given === '' || given === 'NO_JWT' ? undefined : given,
    latestEventId: query.get('latest_event_id'),
    isGreeted: !isProtocol && !query.has('token'),
  };
}

export interface InitializeAnswerOptions {
  readonly dialect: WsDialect;
  /** opendevin-2024-05 and opendevin-2024-06 cannot be distinguished yet. */
  readonly isEither: boolean;
  /** Of the conversation, when there is one. */
  readonly state: ConversationState | undefined;
  readonly timestamp: string;
}

/** What `initialize` is answered with: the greeting of opendevin-2024-03 to opendevin-2024-05, and the state; a conversation without messages is at `init`. */
export function initializeAnswer({ dialect, isEither, state, timestamp }: InitializeAnswerOptions): readonly Frame[] {
  const isNew = state === undefined || (state.lastUserMessageId < 0 && state.agentState === 'awaiting_user_input');
  const now: AgentState = isNew ? 'init' : state.agentState;
  const loading = dialect.greeting.length === 0 ? dialect.announce('loading', timestamp) : [];
  // Frontends of 0.10 and later become active by `init` alone, also when they come back to what is under way.
  const known = dialect.greeting.length === 0 && now !== 'init' ? dialect.announce('init', timestamp) : [];
  const frames = [...dialect.greeting, ...loading, ...known, ...dialect.announce(now, timestamp)];
  if (!isEither) return frames;
  // opendevin-2024-06 cannot begin without its own state frame; opendevin-2024-05 puts that frame's message into the chat, where an empty one would look odd.
  return [
    ...frames,
    ...WS_DIALECTS['opendevin-2024-06'].announce(now, timestamp).map((frame) => ({ ...frame, message: 'The agent is ready.' })),
  ];
}
