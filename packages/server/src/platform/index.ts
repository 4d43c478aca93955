/** What every HTTP server of Tendon rests on; `@tendon/sandbox-host` is the other one. */
export { authorize } from './auth/authorize.ts';
export { storedSecret } from './auth/stored-secret.ts';
export { MIN_ACCESS_KEY_LENGTH, type Config } from './config/config.ts';
export type { App } from './http/app.ts';
export { fail, failureBody, failureWith, sendFailure } from './http/failure.ts';
export { listenError, urlOf } from './http/listening.ts';
export { openSockets } from './http/listening.ts';
export { recordRoutes } from './http/record-routes.ts';
export { refuseEncodedBodies } from './http/app.ts';
export { zodCompilers } from './http/app.ts';
export { createLogger, type Logger } from './logger.ts';
export { isLoopbackBind } from './loopback.ts';
export { makeHome } from './make-home.ts';
export { LOOPBACK_SITE } from './preview-site.ts';
export { processResources } from './metrics.ts';
export { systemClock } from './system-clock.ts';
export { serveUntilSignal } from './serve-until-signal.ts';
export { VERSION } from './version.ts';
