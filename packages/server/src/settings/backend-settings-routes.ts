import { BackendSettings } from '@tendon/protocol';
import type { Routes } from '../platform/http/app.ts';

/** How a client reached this server, as the Mac client keeps it: from this alone it can come back. */
export const backendSettingsRoutes: Routes = (app) => {
  app.get('/api/backend-settings', { schema: { response: { 200: BackendSettings } } }, async (request) => {
    const address = new URL(`http://${request.headers.host ?? 'localhost'}`);
    const use_tls = request.headers['x-forwarded-proto'] === 'https';
    const backend_port = Number(address.port) || (use_tls ? 443 : 80);
    return { backend_host: address.hostname.replace(/^\[|\]$/g, ''), backend_port, use_tls };
  });
};
