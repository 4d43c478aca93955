/** The only place that spells an address of the app, and that reads one. */
export const paths = {
  home: '/',
  conversation: (id: string) => `/conversations/${encodeURIComponent(id)}`,
  settings: '/settings',
  settingsPage: (page: string) => `/settings/${page}`,
  event: (id: string, eventId: number) => `${paths.conversation(id)}#event-${eventId}`,
} as const;

/** Which page a path shows. `shared`: one that is only looked at. */
export type PageAddress =
  | { readonly page: 'home' | 'none' }
  | { readonly page: 'conversation' | 'shared'; readonly id: string }
  | { readonly page: 'settings'; readonly name: string | undefined };

export function readPath(pathname: string): PageAddress {
  const [folder, name, ...more] = pathname.split('/').filter((part) => part !== '');
  if (folder === undefined) return { page: 'home' };
  if (more.length > 0) return { page: 'none' };
  if (folder === 'settings') return { page: 'settings', name };
  if (name === undefined) return { page: 'none' };
  if (folder === 'conversations') return { page: 'conversation', id: decoded(name) };
  return folder === 'shared' ? { page: 'shared', id: decoded(name) } : { page: 'none' };
}

/** A path that is spelled wrong names nothing that exists, but is a path. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
