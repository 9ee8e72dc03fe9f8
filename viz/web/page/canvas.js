// Draws the lists of viz/web/drawing.h on a canvas, or writes them as SVG.

const SAVE = 1, RESTORE = 2, BEGIN = 3, MOVE = 4, LINE = 5, RECTANGLE = 6, ARC = 7, CLOSE = 8, FILL = 9, STROKE = 10,
  CLIP = 11, COLOUR = 12, WIDTH = 13, DASH = 14, JOIN = 15, PAINT = 16, SURFACE = 17, TEXT = 18
const BOLD = 1, ITALIC = 2, FIXED = 4
const JOINS = ['miter', 'round', 'bevel']
const FAMILIES = { sans: '"Tilewalk Sans"', mono: '"Tilewalk Mono"' }
const CAIRO_LINE_WIDTH = 2 // before it is set

export const FONTS = ['16px ', 'bold 16px '].flatMap(style => Object.values(FAMILIES).map(family => style + family))

function fontOf(size, style) {
  return (style & ITALIC ? 'italic ' : '') + (style & BOLD ? 'bold ' : '') + size + 'px ' +
    (style & FIXED ? FAMILIES.mono : FAMILIES.sans)
}

function prepare(context) {
  context.textRendering = 'geometricPrecision'
  context.lineWidth = CAIRO_LINE_WIDTH
}

// What C measures lines with.
export class Ruler {
  constructor() {
    this.context = document.createElement('canvas').getContext('2d')
    prepare(this.context)
    this.known = new Map()
  }
  measure(engine, size, style, at, length) {
    const text = engine.readPart(at, length)
    const key = `${style} ${size} ${text}`
    let width = this.known.get(key)
    if (width !== undefined) return width
    if (this.known.size > 20000) this.known.clear()
    this.context.font = fontOf(size, style)
    width = this.context.measureText(text).width
    this.known.set(key, width)
    return width
  }
}

// A list in C's memory: numbers, text, and the surfaces it draws, each read when it is wanted.
export class List {
  constructor(engine, surface = 0) {
    const at = engine.calls.web_list(surface)
    const [numbers, count, text, length] = new Uint32Array(engine.calls.memory.buffer, at, 4)
    this.engine = engine
    this.address = surface
    this.numbers = new Float64Array(engine.calls.memory.buffer, numbers, count)
    this.bytes = new Uint8Array(engine.calls.memory.buffer, text, length)
  }
  text(offset, length) {
    return new TextDecoder().decode(this.bytes.subarray(offset, offset + length))
  }
  surface(index) {
    const { engine } = this
    const at = engine.calls.web_surface(this.address, index)
    const view = new DataView(engine.calls.memory.buffer, at, 48)
    const pixels = view.getUint32(32, true), stride = view.getInt32(36, true)
    const width = view.getInt32(8, true), height = view.getInt32(12, true)
    return {
      key: view.getBigUint64(0, true), width, height, stride,
      pixels: pixels ? new Uint8Array(engine.calls.memory.buffer, pixels, stride * height) : null,
      address: view.getUint32(40, true),
    }
  }
}

const decoder = new TextDecoder()

function rgba(red, green, blue, alpha) {
  return `rgba(${Math.round(red * 255)},${Math.round(green * 255)},${Math.round(blue * 255)},${alpha})`
}

export class Painter {
  constructor() {
    this.kept = new Map() // pictures of surfaces, by what they show; the oldest go first
    this.colours = new Map()
  }

  colour(red, green, blue, alpha) {
    const key = ((red * 255) << 16 | (green * 255) << 8 | blue * 255) + alpha
    let text = this.colours.get(key)
    if (!text) this.colours.set(key, text = rgba(red, green, blue, alpha))
    return text
  }

  // Lists are drawn at the scale of what they go into; pixels are what they are.
  picture(list, index, scale) {
    const surface = list.surface(index)
    const at = surface.pixels ? 1 : scale, key = `${surface.key} ${at}`
    let canvas = this.kept.get(key)
    this.kept.delete(key)
    if (!canvas) {
      canvas = document.createElement('canvas')
      canvas.width = Math.max(1, surface.width * at)
      canvas.height = Math.max(1, surface.height * at)
      const context = canvas.getContext('2d')
      if (surface.pixels) {
        const image = context.createImageData(canvas.width, canvas.height)
        for (let k = 0; k < image.data.length; k += 4) {
          image.data[k] = surface.pixels[k + 2]
          image.data[k + 1] = surface.pixels[k + 1]
          image.data[k + 2] = surface.pixels[k]
          image.data[k + 3] = 255
        }
        context.putImageData(image, 0, 0)
      } else {
        this.paint(context, new List(list.engine, surface.address), canvas.width, canvas.height, at)
      }
    }
    this.kept.set(key, canvas)
    if (this.kept.size > 48) this.kept.delete(this.kept.keys().next().value)
    return { canvas, at }
  }

  paint(context, list, width, height, scale = 1) {
    const of = list.numbers, n = of.length, { bytes } = list
    context.save()
    context.scale(scale, scale)
    prepare(context)
    let depth = 0
    for (let k = 0; k < n;) {
      switch (of[k++]) {
        case SAVE: context.save(); depth++; break
        case RESTORE: context.restore(); depth--; break
        case BEGIN: context.beginPath(); break
        case MOVE: context.moveTo(of[k++], of[k++]); break
        case LINE: context.lineTo(of[k++], of[k++]); break
        case RECTANGLE: context.rect(of[k++], of[k++], of[k++], of[k++]); break
        case ARC: context.arc(of[k++], of[k++], Math.max(0, of[k++]), of[k++], of[k++]); break
        case CLOSE: context.closePath(); break
        case FILL: context.fill(); break
        case STROKE: context.stroke(); break
        case CLIP: context.clip(); break
        case COLOUR:
          context.fillStyle = context.strokeStyle = this.colour(of[k], of[k + 1], of[k + 2], of[k + 3])
          k += 4
          break
        case WIDTH: context.lineWidth = of[k++]; break
        case DASH:
          context.lineDashOffset = of[k]
          context.setLineDash(Array.from(of.subarray(k + 2, k + 2 + of[k + 1])))
          k += 2 + of[k + 1]
          break
        case JOIN: context.lineJoin = JOINS[of[k++]]; break
        case PAINT: context.fillRect(0, 0, width, height); break
        case SURFACE: {
          const { canvas, at } = this.picture(list, of[k], scale)
          const pattern = context.createPattern(canvas, of[k + 3] ? 'repeat' : 'no-repeat')
          pattern.setTransform(new DOMMatrix([1 / at, 0, 0, 1 / at, of[k + 1], of[k + 2]]))
          context.imageSmoothingEnabled = of[k + 4] === 1
          context.fillStyle = context.strokeStyle = pattern
          k += 5
          break
        }
        case TEXT:
          context.font = fontOf(of[k + 2], of[k + 3])
          context.fillText(decoder.decode(bytes.subarray(of[k + 4], of[k + 4] + of[k + 5])), of[k], of[k + 1])
          k += 6
          break
        default: throw new Error('the list of what to draw is damaged')
      }
    }
    for (; depth > 0; depth--) context.restore()
    context.restore()
  }
}

const escaped = text => text.replace(/[&<>"]/g, c => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[c])
const short = value => String(Math.round(value * 1000) / 1000)

// The same list as SVG, with text as text. `title` and `state` go into its head.
export function svg(painter, list, width, height, title, state) {
  const defs = []
  const body = inner(painter, list, defs, 'c', width, height)
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">` +
    `<title>${escaped(title)}</title><desc>${escaped(state)}</desc><defs>${defs.join('')}</defs>${body}</svg>\n`
}

// A clip opens a group that is closed by the restore of its save.
function inner(painter, list, defs, prefix, width, height) {
  const of = list.numbers, out = []
  let state = { fill: '#000', alpha: 1, width: CAIRO_LINE_WIDTH, dash: '', join: 'miter', groups: 0 }
  let path = ''
  const states = []
  const shape = attributes => out.push(`<path d="${path}" ${attributes}/>`)
  for (let k = 0; k < of.length;) {
    switch (of[k++]) {
      case SAVE: states.push(state); state = { ...state, groups: 0 }; break
      case RESTORE: out.push('</g>'.repeat(state.groups)); state = states.pop(); break
      case BEGIN: path = ''; break
      case MOVE: path += `M${short(of[k++])} ${short(of[k++])}`; break
      case LINE: path += `L${short(of[k++])} ${short(of[k++])}`; break
      case RECTANGLE:
        path += `M${short(of[k])} ${short(of[k + 1])}h${short(of[k + 2])}v${short(of[k + 3])}h${short(-of[k + 2])}Z`
        k += 4
        break
      case ARC: { // nothing draws less than a circle
        const [x, y, r] = of.subarray(k, k + 3)
        path += `M${short(x + r)} ${short(y)}A${short(r)} ${short(r)} 0 1 1 ${short(x - r)} ${short(y)}` +
          `A${short(r)} ${short(r)} 0 1 1 ${short(x + r)} ${short(y)}Z`
        k += 5
        break
      }
      case CLOSE: path += 'Z'; break
      case FILL: shape(`fill="${state.fill}" fill-opacity="${short(state.alpha)}"`); break
      case STROKE:
        shape(`fill="none" stroke="${state.fill}" stroke-opacity="${short(state.alpha)}" ` +
          `stroke-width="${short(state.width)}" stroke-linejoin="${state.join}" stroke-miterlimit="10"` +
          (state.dash ? ` stroke-dasharray="${state.dash}"` : ''))
        break
      case CLIP: {
        const id = `${prefix}${defs.length}`
        defs.push(`<clipPath id="${id}"><path d="${path}"/></clipPath>`)
        out.push(`<g clip-path="url(#${id})">`)
        state.groups++
        break
      }
      case COLOUR:
        state.fill = '#' + [0, 1, 2].map(i => Math.round(of[k + i] * 255).toString(16).padStart(2, '0')).join('')
        state.alpha = of[k + 3]
        k += 4
        break
      case WIDTH: state.width = of[k++]; break
      case DASH:
        state.dash = Array.from(of.subarray(k + 2, k + 2 + of[k + 1]), short).join(' ')
        k += 2 + of[k + 1]
        break
      case JOIN: state.join = JOINS[of[k++]]; break
      case PAINT:
        out.push(`<rect width="${width}" height="${height}" fill="${state.fill}" fill-opacity="${short(state.alpha)}"/>`)
        break
      case SURFACE: {
        const surface = list.surface(of[k]), id = `${prefix}${defs.length}`
        const content = surface.pixels
          ? `<image width="${surface.width}" height="${surface.height}" href="${painter.picture(list, of[k], 1).canvas.toDataURL()}"/>`
          : inner(painter, new List(list.engine, surface.address), defs, id + '-', surface.width, surface.height)
        defs.push(`<pattern id="${id}" patternUnits="userSpaceOnUse" x="${short(of[k + 1])}" y="${short(of[k + 2])}" ` +
          `width="${surface.width}" height="${surface.height}">${content}</pattern>`)
        state.fill = `url(#${id})`
        state.alpha = 1
        k += 5
        break
      }
      case TEXT: {
        const style = of[k + 3]
        out.push(`<text x="${short(of[k])}" y="${short(of[k + 1])}" font-size="${short(of[k + 2])}" ` +
          `font-family="${style & FIXED ? 'DejaVu Sans Mono, monospace' : 'DejaVu Sans, sans-serif'}"` +
          (style & BOLD ? ' font-weight="bold"' : '') + (style & ITALIC ? ' font-style="italic"' : '') +
          ` fill="${state.fill}" fill-opacity="${short(state.alpha)}" xml:space="preserve">` +
          `${escaped(list.text(of[k + 4], of[k + 5]))}</text>`)
        k += 6
        break
      }
      default: throw new Error('the list of what to draw is damaged')
    }
  }
  out.push('</g>'.repeat([state, ...states].reduce((sum, each) => sum + each.groups, 0)))
  return out.join('')
}
