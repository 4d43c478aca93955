// The app's own files without a connection. What the server answers is never stored: no route of it is handled here.
//
// W1  A page comes from the server whenever that answers, so that no version of the app is older than the server; only without an answer from the
//     files of this build.
// W2  Files under /assets have their contents in their names: a stored one is never out of date. Those of another build are deleted.
// W3  What is chosen in a notification is carried out by a page of the app, which alone has the key; where none is open, one is opened.
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

/** `notice`: as the page gave it, with the `path` where it leads. */
async function handOver(notice, chosen) {
  const [page] = await self.clients.matchAll({ type: 'window' });
  if (!page) return self.clients.openWindow(notice.path);
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- to a client of a worker, which has none
  page.postMessage({ notice, chosen });
  if (chosen === 'open') await page.focus();
}
