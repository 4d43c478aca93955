import type { IncomingMessage } from 'node:http';

/** What an upgrade of `/ws` says about its client. */
export interface WsRequest {
  /** opendevin-2024-11 offers `openhands`, its token and its GitHub token as subprotocols. */
  readonly isProtocol: boolean;
  /** opendevin-2024-11 with fewer than three of them. */
  readonly isRefused: boolean;
  readonly token: string | undefined;
  readonly latestEventId: string | null;
  /** Nothing tells that it is later than opendevin-2024-03, which is greeted at once. */
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
