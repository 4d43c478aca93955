// The app's own files without a connection. What the server answers is never stored: no route of it is handled here.
//
// W1  A page comes from the server whenever that answers, so that no version of the app is older than the server; only without an answer from the
//     files of this build.
// W2  Files under /assets have their contents in their names: a stored one is never out of date. Those of another build are deleted.
// W3  What is chosen in a notification is carried out by a page of the app, which alone has the key; where none is open, one is opened.
// W4  A push is always shown, because browsers end the subscription of an app that shows none; one about the conversation that a person looks
//     at is closed in the same moment. What a page shows under the same tag has more in it, and stays.
/** Written by the build, as is the list of files. */
const BUILD = 'development';
const SHELL = [];
const CACHE = `tendon-${BUILD}`;

self.addEventListener('install', (event) => {
  const others = ['/', '/first-paint.js', '/manifest.webmanifest', '/icon.svg'];
  const requests = [...others, ...SHELL].map((path) => new Request(path, { cache: path.startsWith('/assets/') ? 'default' : 'reload' }));
  event.waitUntil(caches.open(CACHE).then((cache) => cache.addAll(requests)));
  self.skipWaiting();
});

self.addEventListener('activate', (event) => {
  const old = (names) => names.filter((name) => name.startsWith('tendon-') && name !== CACHE);
  event.waitUntil(caches.keys().then((names) => Promise.all(old(names).map((name) => caches.delete(name)))));
});

self.addEventListener('fetch', (event) => {
  const { request } = event;
  const { origin, pathname } = new URL(request.url);
  if (request.method !== 'GET' || origin !== self.location.origin || pathname.startsWith('/api/')) return;
  // A browser whose storage is damaged goes to the server.
  const stored = async (path) => {
    try {
      return await (await caches.open(CACHE)).match(path);
    } catch {
      return undefined;
    }
  };
  if (request.mode === 'navigate') {
    event.respondWith(fetch(request).catch(async (error) => (await stored('/')) ?? Promise.reject(error)));
  } else if (SHELL.includes(pathname)) {
    event.respondWith(stored(pathname).then((file) => file ?? fetch(request)));
  } else if (['/first-paint.js', '/manifest.webmanifest', '/icon.svg'].includes(pathname)) {
    event.respondWith(fetch(request).catch(async (error) => (await stored(pathname)) ?? Promise.reject(error)));
  }
});

self.addEventListener('notificationclick', (event) => {
  event.notification.close();
  event.waitUntil(handOver(event.notification.data, event.action || 'open'));
});

/** One after the other: while one is being shown, Chromium forgets it if it is asked which are. */
let showing = Promise.resolve();
self.addEventListener('push', (event) => {
  showing = showing.catch(() => undefined).then(() => showPush(event.data.json()));
  event.waitUntil(showing);
});

async function showPush({ conversation_id, title, kind, tag }) {
  const path = `/conversations/${encodeURIComponent(conversation_id)}`;
  const pages = await self.clients.matchAll({ type: 'window', includeUncontrolled: true });
  const isSeen = pages.some((page) => page.focused && new URL(page.url).pathname === path);
  const words = await (await caches.open('notification-words')).match('/notification-words');
  const shown = await self.registration.getNotifications();
  for (const one of shown) if (one.data?.path === path && one.tag !== tag) one.close();
  const same = shown.find((one) => one.tag === tag);
  const looks = same ?? { title, body: words ? (await words.json())[kind] : '', data: { path }, actions: [] };
  const { body, data, actions } = looks;
  await self.registration.showNotification(looks.title, { body, data, actions, tag, icon: '/icon-192.png', silent: isSeen });
  if (isSeen) for (const one of await self.registration.getNotifications({ tag })) one.close();
}

/** `notice`: as the page gave it, with the `path` where it leads. */
async function handOver(notice, chosen) {
  const [page] = await self.clients.matchAll({ type: 'window' });
  if (!page) return self.clients.openWindow(notice.path);
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- to a client of a worker, which has none
  page.postMessage({ notice, chosen });
  if (chosen === 'open') await page.focus();
}
