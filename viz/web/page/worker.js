// Keeps what a page has used for later, so that it works without a network. The version is that of the folder's files.

const VERSION = '@VERSION@'

self.addEventListener('install', event => event.waitUntil(self.skipWaiting()))

self.addEventListener('activate', event => event.waitUntil((async () => {
  for (const name of await caches.keys())
    if (name.startsWith('tilewalk-') && name !== VERSION) await caches.delete(name)
  await self.clients.claim()
})()))

const isOurs = url => url.startsWith(self.registration.scope) && !url.endsWith('/worker.js')

self.addEventListener('fetch', event => {
  if (event.request.method !== 'GET' || !isOurs(event.request.url)) return
  event.respondWith((async () => {
    const cache = await caches.open(VERSION), known = await cache.match(event.request, { ignoreSearch: true })
    if (known) return known
    const answer = await fetch(event.request)
    if (answer.ok && answer.type === 'basic') event.waitUntil(cache.put(event.request, answer.clone()))
    return answer
  })())
})
