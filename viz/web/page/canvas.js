// Draws the lists of viz/web/drawing.h on a canvas.

// The operations that are calls of a canvas, and those that are not.
const CALLS = [, 'save', 'restore', 'beginPath', 'moveTo', 'lineTo', 'rect', 'arc', 'closePath', 'fill', 'stroke', 'clip']
const OPS = 32, COLOUR = 12, WIDTH = 13, DASH = 14, JOIN = 15, PAINT = 16, SURFACE = 17, TEXT = 18
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

  // Of a surface, by its hash and the scale of what it goes into.
  picture(engine, surface, hash, width, height, scale) {
    const key = `${hash} ${scale}`
    let canvas = this.kept.get(key)
    this.kept.delete(key)
    if (!canvas) {
      canvas = new OffscreenCanvas(Math.max(1, width * scale), Math.max(1, height * scale))
      this.paint(canvas.getContext('2d'), engine, surface, canvas.width, canvas.height, scale)
    }
    this.kept.set(key, canvas)
    if (this.kept.size > 48) this.kept.delete(this.kept.keys().next().value)
    return canvas
  }

  // The list of a surface in C's memory; of the frame: 0.
  paint(context, engine, surface, width, height, scale = 1) {
    const { calls } = engine, { buffer } = calls.memory, [at, count] = new Uint32Array(buffer, calls.web_list(surface), 2), numbers = new Float64Array(buffer, at, count)
    context.reset()
    context.scale(scale, scale)
    prepare(context)
    for (let k = 0; k < numbers.length;) {
      const op = numbers[k] % OPS, of = numbers.subarray(k + 1, k += 1 + Math.floor(numbers[k] / OPS))
      if (CALLS[op]) context[CALLS[op]](...of)
      else if (op === COLOUR) context.fillStyle = context.strokeStyle = this.colour(...of)
      else if (op === WIDTH) context.lineWidth = of[0]
      else if (op === JOIN) context.lineJoin = JOINS[of[0]]
      else if (op === PAINT) context.fillRect(0, 0, width, height)
      else if (op === DASH) context.setLineDash(Array.from(of))
      else if (op === SURFACE) {
        const [index, hash, wide, high, x, y, repeats, smooth] = of
        const pattern = context.createPattern(this.picture(engine, calls.web_surface(surface, index), hash, wide, high, scale), repeats ? 'repeat' : 'no-repeat')
        pattern.setTransform(new DOMMatrix([1 / scale, 0, 0, 1 / scale, x, y]))
        context.imageSmoothingEnabled = smooth === 1
        context.fillStyle = context.strokeStyle = pattern
      } else if (op === TEXT) {
        const [x, y, size, style, length] = of
        context.font = fontOf(size, style)
        context.fillText(decoder.decode(new Uint8Array(buffer, of.byteOffset + 40, length)), x, y)
      } else throw new Error('the list of what to draw is damaged')
    }
  }
}
