// Keeps the folder for later, so that it works without a network. The list and its version are written by the build.

const VERSION = '@VERSION@'
const FILES = ['./', @FILES@]

self.addEventListener('install', event => event.waitUntil((async () => {
  const cache = await caches.open(VERSION)
  await cache.addAll(FILES.map(name => new Request(name, { cache: 'reload' })))
  await self.skipWaiting()
})()))

self.addEventListener('activate', event => event.waitUntil((async () => {
  for (const name of await caches.keys())
    if (name.startsWith('tilewalk-') && name !== VERSION) await caches.delete(name)
  await self.clients.claim()
})()))

self.addEventListener('fetch', event => {
  if (event.request.method !== 'GET' || !event.request.url.startsWith(self.registration.scope)) return
  event.respondWith((async () => {
    const cache = await caches.open(VERSION)
    return await cache.match(event.request, { ignoreSearch: true }) ?? fetch(event.request)
  })())
})
