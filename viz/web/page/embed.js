// A scene in a frame of another page.

import { Viewer } from './viewer.js'

const $ = id => document.getElementById(id)
try {
  const viewer = await Viewer.open({ canvas: $('canvas'), live: $('live') }, { leastWidth: 320, leastHeight: 200 })
  window.tilewalk = viewer
  const update = () => { $('whole').href = './' + viewer.hash() }
  viewer.changed.push(update)
  update()
  window.addEventListener('hashchange', () => viewer.follow())
} catch (error) {
  $('problem').hidden = false
  $('problem').textContent = `Tilewalk cannot start here: ${error.message}`
}
