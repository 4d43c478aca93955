/** `host` of a `Host` header or URL, without port and brackets, lower case; `undefined` when it is not one. */
export function hostnameOf(host: string): string | undefined {
  const match = /^(?:\[([0-9a-f:.]+)\]|([a-z0-9._-]+))(?::\d{1,5})?$/i.exec(host);
  return (match?.[1] ?? match?.[2])?.toLowerCase();
}

/**
 * Whether the name is this machine to a browser. Not `*.localhost`: previews of what agents built live there,
 * and they must not speak for the user.
 */
export function isLoopbackName(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '::1' || /^127(\.\d{1,3}){3}$/.test(hostname);
}

/** Whether binding to `host` keeps other machines out. */
export function isLoopbackBind(host: string): boolean {
  return isLoopbackName(host.toLowerCase().replace(/^\[|\]$/g, ''));
}
