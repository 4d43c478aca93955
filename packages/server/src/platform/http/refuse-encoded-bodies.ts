import { catalogError } from '@tendon/protocol';
import type { App } from './app.ts';
import { sendFailure } from './failure.ts';

/** Bodies are never unpacked, so that none can swell; who packed one is told what to do instead. */
export function refuseEncodedBodies(app: App): void {
  app.addHook('onRequest', async ({ headers }, reply) => {
    const coding = headers['content-encoding'];
    if (coding === undefined || coding === 'identity') return;
    const error = catalogError('INVALID_ARGUMENTS', 'a body is taken as it is, without Content-Encoding');
    return sendFailure(reply, { ...error, status: 415 });
  });
}
