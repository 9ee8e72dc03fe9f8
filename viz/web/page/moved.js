// An address from before leads on, with what it asked.
const to = document.querySelector('main a').getAttribute('href'), hash = location.hash.slice(1)
location.replace(to + (hash ? (to.includes('#') ? '-' : '#') + hash : ''))
