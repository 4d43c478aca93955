import { AuditPage, AuditQuery, Failure } from '@tendon/protocol';
import type { Routes } from '../platform/http/app.ts';
import { fail } from '../platform/http/failure.ts';
import type { Audit } from './audit.ts';

/** Who did what, newest first. */
export const auditRoutes: Routes<{ readonly audit: Audit | undefined }> = (app, { audit }) => {
  const schema = { querystring: AuditQuery, response: { 200: AuditPage, 404: Failure } };
  app.get('/api/audit', { schema }, async ({ query }, reply) => (audit ? audit.list(query) : fail(reply, 'AUDIT_OFF')));
};
