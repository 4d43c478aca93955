/** The only place that spells an address of the app. */
export const paths = {
  home: '/',
  conversation: (id: string) => `/conversations/${encodeURIComponent(id)}`,
  settings: '/settings',
  settingsPage: (page: string) => `/settings/${page}`,
  /** A page that is only looked at. */
  shared: '/shared/:conversationId',
  event: (id: string, eventId: number) => `${paths.conversation(id)}#event-${eventId}`,
} as const;
