// A scene in a frame of another page.

import { Viewer, hashOf } from './viewer.js'

const $ = id => document.getElementById(id)
try {
  const viewer = await Viewer.open({ canvas: $('canvas'), live: $('live') }, { leastWidth: 320, leastHeight: 200 })
  window.tilewalk = viewer
  const update = () => { $('whole').href = './' + hashOf(viewer.state()) }
  viewer.changed.push(update)
  update()
  window.addEventListener('hashchange', () => viewer.restore(decodeURIComponent(location.hash.slice(1)).replaceAll('&', ' ')))
} catch (error) {
  $('problem').hidden = false
  $('problem').textContent = `Tilewalk cannot start here: ${error.message}`
}
