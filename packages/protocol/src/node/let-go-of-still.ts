import type { IncomingMessage, ServerResponse } from 'node:http';

/** A client that stops in the middle of its request, or does not read the answer, for so long is hung up on; what it asked for goes on. */
export function letGoOfStill(request: IncomingMessage, response: ServerResponse, stillMs: number): void {
  response.setTimeout(stillMs, () => {
    if (!request.complete || response.writableNeedDrain) request.destroy();
    else response.setTimeout(stillMs); // it waits for us
  });
}
