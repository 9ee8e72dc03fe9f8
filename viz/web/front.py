"""The two machines of the front page as SVG, as they stand in the middle of the race: who runs no script, or waits for it,
sees them; front.js moves the same shapes.

Both carry 16-bit Q, K, V and O of N = 1,024, d = 64 in tiles of 128 over one link, so each has moved the same bytes.
"""
SIDE, TILE, SCORES = 8, 16384, 32768  # tiles a side; bytes of a tile of Q, and of one of S
POSTER = 1.7 * 2**20
SLOTS = ('Q', 'K', 'V', 'S', 'O')


def standard():
    """(tensor, tile, bytes) of each load and store, in order: `tilewalk trace -N 1024 -d 64 --block 128`."""
    n = range(SIDE)
    for i in n:
        yield 'Q', i, TILE
        for j in n:
            if i == 0:
                yield 'K', j, TILE  # it stays
            yield 'S+', SIDE * i + j, SCORES
    for i in n:
        yield from (('S', SIDE * i + j, SCORES) for j in n)
        yield from (('P+', SIDE * i + j, SCORES) for j in n)
    for i in n:
        for j in n:
            yield 'P', SIDE * i + j, SCORES
            if i == 0:
                yield 'V', j, TILE
        yield 'O+', i, TILE


def fused():
    for i in range(SIDE):
        yield 'Q', i, TILE
        for j in range(SIDE):
            yield from (('K', j, TILE), ('V', j, TILE))
        yield 'O+', i, TILE


def state(events, moved):
    """What has been stored by then, and what is on its way: ({'S': 40, ...}, ('S', 40))."""
    stored, at = dict.fromkeys('SPO', 0), None
    for tensor, tile, size in events:
        if moved <= 0:
            break
        moved -= size
        at = (tensor[0], tile)
        if tensor[1:]:
            stored[tensor[0]] = tile + 1
    return stored, at


def look(name, tile, is_fused, stored, at):
    if at == (name, tile):
        return 'a'
    if name in 'SP':
        return 'n' if is_fused else 'w' if tile < stored[name] else 'e'
    if name == 'O':
        return 'b' if tile < stored['O'] else 'e'
    return 'd'


def rect(x, y, w, h, kind, more=''):
    return f'<rect x="{x:g}" y="{y:g}" width="{w:g}" height="{h:g}" class="{kind}"{more}/>'


def text(x, y, words, kind='', more=''):
    return f'<text x="{x:g}" y="{y:g}"{f" class={chr(34)}{kind}{chr(34)}" if kind else ""}{more}>{words}</text>'


def lane(is_fused, width, high, side, variant):
    """One machine, `width` wide: HBM of `high` with tables of `side`, SRAM below."""
    stored, at = state(fused() if is_fused else standard(), POSTER)
    top, step = high - side - 16, side / SIDE
    first, gap = (18 + 74, 25) if width > 500 else (50, 25)
    table = width - 18 - side, width - 18 - 2 * side - (24 if width > 500 else 12)
    out = [rect(0, 0, width, high, 'hbm', ' rx="8"'), text(width > 500 and 18 or 8, top - 12, 'HBM', 's')]
    for k, name in enumerate('QKVO'):
        x = first + gap * k
        out.append(text(x + 5.5, top - 12, name, 's', ' text-anchor="middle"'))
        out += [rect(x, top + step * t, 11, step - 1.5, look(name, t, is_fused, stored, at), f' data-at="{name}{t}"') for t in range(SIDE)]
    for name, x in (('S', table[1]), ('P', table[0])):
        out.append(text(x, top - 12, name, 's'))
        if is_fused:
            out.append(rect(x + 0.5, top + 0.5, side - 1, side - 1, 'n'))
            if side > 100:
                out.append(text(x + side, top - 12, 'never stored', 'q', ' text-anchor="end"'))
        else:
            out += [rect(x + step * (t % SIDE), top + step * (t // SIDE), step - 1, step - 1, look(name, t, False, stored, at), f' data-at="{name}{t}"')
                    for t in range(SIDE * SIDE)]
    slot = 58 if width > 500 else 40
    whole = len(SLOTS) * (slot + 6) + 18
    x, y = (width - whole) / 2 + 20, high + 22
    out += [text(x - 12, y + 35, 'SRAM', 's', ' text-anchor="end"'), rect(x, y, whole, 58, 'sram', ' rx="8"')]
    for k, name in enumerate(SLOTS):
        kind = 'a' if at and at[0].replace('P', 'S') == name else 'e'
        out += [rect(x + 12 + k * (slot + 6), y + 10, slot, 38, kind, f' rx="4" data-slot="{name}"'),
                text(x + 12 + k * (slot + 6) + slot / 2, y + 34, name, '', ' text-anchor="middle"')]
    out.append(rect(0, 0, 14, 14, 'a fly', ' visibility="hidden"'))
    return (f'<svg class="{variant}" data-lane="{int(is_fused)}" viewBox="0 0 {width} {high + 84}" width="{width}" height="{high + 84}" '
            f'aria-hidden="true">{"".join(out)}</svg>')


def lanes(is_fused):
    return ''.join(lane(is_fused, *how) for how in ((588, 234, 175, 'large'), (588, 170, 111, 'middle'), (358, 128, 70, 'narrow')))
