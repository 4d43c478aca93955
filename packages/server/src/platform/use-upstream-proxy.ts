import http from 'node:http';
import https from 'node:https';
import type { SandboxesConfig } from './config/config.ts';

/** This machine is never reached through a proxy: model servers, tests and the server's own API live there. */
const ALWAYS_DIRECT = ['localhost', '127.0.0.1', '::1', '[::1]'];

/**
 * Sends every `fetch` of this process through the proxy that the machine must use: models, git hosts, MCP servers, web search.
 * Requests to sandboxes and container engines go by `http.request` on sockets of their own and stay direct.
 * Returns the function that undoes it. Throws a user-facing Error where Node is too old to do it.
 */
export function useUpstreamProxy(proxy: NonNullable<SandboxesConfig['upstreamProxy']>): () => void {
  if (typeof http.setGlobalProxyFromEnv !== 'function') {
    throw new Error(
      `HTTPS_PROXY is set, but Node ${process.versions.node} cannot send the server's own requests through a proxy. Use Node 24.14 or newer.`,
    );
  }
  const agents = { http: http.globalAgent, https: https.globalAgent };
  const restore = http.setGlobalProxyFromEnv({
    http_proxy: proxy.url.href,
    https_proxy: proxy.url.href,
    no_proxy: [proxy.except, ...ALWAYS_DIRECT].filter((names) => names !== '').join(','),
  });
  http.globalAgent = agents.http;
  https.globalAgent = agents.https;
  return restore;
}
