import type { Duplex } from 'node:stream';
import type { CatalogError } from '@tendon/protocol';
import { refuseUpgrade as refuse } from '@tendon/runtime';
import { failureBody } from '../platform/http/failure.ts';

/** Answers an upgrade like an ordinary request that failed, and hangs up. */
export function refuseUpgrade(socket: Duplex, error: CatalogError): void {
  refuse(socket, error.status, failureBody(error));
}
