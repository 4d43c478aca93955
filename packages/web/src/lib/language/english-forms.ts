/** Where English says another thing than the key: the singular of what is counted. */
export const ENGLISH_FORMS: Readonly<Record<string, string>> = {
  'Done, {{count}} files edited': 'Done, {{count}} file edited',
  'a window of {{count}} tokens': 'a window of {{count}} token',
  '{{count}} tokens': '{{count}} token',
};
