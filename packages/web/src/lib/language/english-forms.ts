/** Where English says another thing than the key: the singular of what is counted. */
export const ENGLISH_FORMS: Readonly<Record<string, string>> = {
  'Caught up, {{count}} new events': 'Caught up, {{count}} new event',
  'Done, {{count}} files edited': 'Done, {{count}} file edited',
  'a window of {{count}} tokens': 'a window of {{count}} token',
  '{{count}} conversations waiting for you – Tendon': '{{count}} conversation waiting for you – Tendon',
  '{{count}} models': '{{count}} model',
  '{{count}} tokens': '{{count}} token',
};
