// What a lecture page does with a frame: it tells it what to show, and hears where it is.

import { $, onPress } from './element.js'
import './top.js'

const ask = message => $('frame').contentWindow.postMessage({ tilewalk: 1, ...message }, location.origin)
onPress({ 'tell-standard': () => ask({ type: 'set', state: 'algorithm=standard N=64 d=16 block=8 step=80' }), 'tell-step': () => ask({ type: 'step', step: 100 }) })
addEventListener('message', ({ source, data }) => {
  if (source !== $('frame').contentWindow || data?.tilewalk !== 1) return
  $('told').textContent = data.type === 'state' ? `Step ${data.step} of ${data.steps}. ${data.what}` : `Refused: ${data.why}`
})
