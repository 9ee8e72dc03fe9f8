// Draws the lists of viz/web/drawing.h on a canvas.

// The operations that are calls of a canvas; those that are not; and how many numbers each has.
const CALLS = [, 'save', 'restore', 'beginPath', 'moveTo', 'lineTo', 'rect', 'arc', 'closePath', 'fill', 'stroke', 'clip']
const COLOUR = 12, WIDTH = 13, DASH = 14, JOIN = 15, PAINT = 16, SURFACE = 17, TEXT = 18
const NUMBERS = [0, 0, 0, 0, 2, 2, 4, 5, 0, 0, 0, 0, 4, 1, 2, 1, 0, 5, 6]
const BOLD = 1, FIXED = 4
const JOINS = ['miter', 'round', 'bevel']
const FAMILIES = { sans: '"Tilewalk Sans", "DejaVu Sans", sans-serif', mono: '"Tilewalk Mono", "DejaVu Sans Mono", monospace' }
const CAIRO_LINE_WIDTH = 2 // before it is set

export const FONTS = ['16px ', 'bold 16px '].flatMap(style => Object.values(FAMILIES).map(family => style + family))

function fontOf(size, style) {
  return (style & BOLD ? 'bold ' : '') + size + 'px ' +
    (style & FIXED ? FAMILIES.mono : FAMILIES.sans)
}

function prepare(context) {
  context.textRendering = 'geometricPrecision'
  context.lineWidth = CAIRO_LINE_WIDTH
}

// What C measures lines with.
export class Ruler {
  constructor() {
    this.context = new OffscreenCanvas(1, 1).getContext('2d') // a worker has it too
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
  surface(index) {
    const { engine } = this
    const at = engine.calls.web_surface(this.address, index)
    const view = new DataView(engine.calls.memory.buffer, at, 24)
    return { key: view.getBigUint64(0, true), width: view.getInt32(8, true), height: view.getInt32(12, true), address: view.getUint32(16, true) }
  }
}

const decoder = new TextDecoder()

export class Painter {
  constructor() {
    this.kept = new Map() // pictures of surfaces, by what they show; the oldest go first
    this.colours = new Map()
  }

  colour(red, green, blue, alpha) {
    const key = ((red * 255) << 16 | (green * 255) << 8 | blue * 255) + alpha
    let text = this.colours.get(key)
    if (!text) this.colours.set(key, text = `rgba(${[red, green, blue].map(part => Math.round(part * 255))},${alpha})`)
    return text
  }

  // At the scale of what it goes into.
  picture(list, index, scale) {
    const surface = list.surface(index), key = `${surface.key} ${scale}`
    let canvas = this.kept.get(key)
    this.kept.delete(key)
    if (!canvas) {
      canvas = new OffscreenCanvas(Math.max(1, surface.width * scale), Math.max(1, surface.height * scale))
      this.paint(canvas.getContext('2d'), new List(list.engine, surface.address), canvas.width, canvas.height, scale)
    }
    this.kept.set(key, canvas)
    if (this.kept.size > 48) this.kept.delete(this.kept.keys().next().value)
    return canvas
  }

  paint(context, list, width, height, scale = 1) {
    const of = list.numbers
    context.reset()
    context.scale(scale, scale)
    prepare(context)
    for (let k = 0; k < of.length;) {
      const op = of[k++], n = NUMBERS[op], at = k
      k += n
      if (CALLS[op]) context[CALLS[op]](...of.subarray(at, k))
      else if (op === COLOUR) context.fillStyle = context.strokeStyle = this.colour(...of.subarray(at, k))
      else if (op === WIDTH) context.lineWidth = of[at]
      else if (op === JOIN) context.lineJoin = JOINS[of[at]]
      else if (op === PAINT) context.fillRect(0, 0, width, height)
      else if (op === DASH) {
        context.lineDashOffset = of[at]
        context.setLineDash(Array.from(of.subarray(k, k += of[at + 1])))
      } else if (op === SURFACE) {
        const [index, x, y, repeats, smooth] = of.subarray(at, k), pattern = context.createPattern(this.picture(list, index, scale), repeats ? 'repeat' : 'no-repeat')
        pattern.setTransform(new DOMMatrix([1 / scale, 0, 0, 1 / scale, x, y]))
        context.imageSmoothingEnabled = smooth === 1
        context.fillStyle = context.strokeStyle = pattern
      } else if (op === TEXT) {
        const [x, y, size, style, offset, length] = of.subarray(at, k)
        context.font = fontOf(size, style)
        context.fillText(decoder.decode(list.bytes.subarray(offset, offset + length)), x, y)
      } else throw new Error('the list of what to draw is damaged')
    }
  }
}
