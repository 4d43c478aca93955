// The fixture server with the stories, at a moment that never passes: the pictures then differ only where the app does. Prints its address.
import { NOW } from './screens.mjs';

const PassingDate = Date;
globalThis.Date = class extends PassingDate {
  constructor(...given) {
    super(...(given.length > 0 ? given : [NOW]));
  }
  static now() {
    return PassingDate.parse(NOW);
  }
};

// It reads the clock when it is loaded.
const { startFixture } = await import('../../packages/web/dev/fixture-server.mjs');
const { CONVERSATIONS, eventsOf } = await import('../../packages/web/dev/made-up.mjs');
const { filesOf, storyOf } = await import('./stories.mjs');
/** Nothing changed in a story since an event behind its last edit. */
function isAfterLastEdit(id, against) {
  const [, event] = /^event:(\d+)$/.exec(against ?? '') ?? [];
  if (event === undefined || filesOf(id) === undefined) return false;
  const edit = storyOf(id, eventsOf).findLast(({ observation }) => observation === 'edit' || observation === 'write');
  return edit !== undefined && Number(event) > edit.id;
}
const ROUNDING = { conversation_id: 'rounding', title: 'Round currencies as the bank does', forked_from: undefined };
const { url } = await startFixture({
  port: 3778,
  conversations: CONVERSATIONS.map((info) => (info.conversation_id === 'done' ? { ...info, ...ROUNDING } : info)),
  eventsOf: (id) => storyOf(id, eventsOf),
  filesOf: (id, against) => (isAfterLastEdit(id, against) ? {} : filesOf(id)),
  model: process.env.MODEL,
});
process.stdout.write(`${url}\n`);
