#include "viz/text/paragraph.h"

#include "viz/text/lettering_pango.h"

#define LINE_SPACING 1.22f /* of pango's own distance of lines */

static void add(PangoAttrList *list, PangoAttribute *attribute, const ParagraphSpan *span) {
  attribute->start_index = (guint)span->begin;
  attribute->end_index = (guint)span->end;
  pango_attr_list_insert(list, attribute);
}

typedef PangoAttribute *Coloured(guint16 red, guint16 green, guint16 blue);

static PangoAttribute *coloured(Coloured *attribute, uint32_t colour) {
  return attribute((guint16)((colour >> 16) * 257), (guint16)((colour >> 8 & 255) * 257),
                   (guint16)((colour & 255) * 257));
}

static PangoAttrList *attributes_of(const Paragraph *p) {
  PangoAttrList *list = pango_attr_list_new();
  for (size_t k = 0; k < p->n_spans; k++) {
    const ParagraphSpan *s = &p->spans[k];
    if (s->look & LOOK_BOLD) add(list, pango_attr_weight_new(PANGO_WEIGHT_BOLD), s);
    if (s->look & LOOK_ITALIC) add(list, pango_attr_style_new(PANGO_STYLE_ITALIC), s);
    if (s->look & LOOK_CODE) {
      add(list, pango_attr_family_new(p->mono), s);
      add(list, pango_attr_scale_new(0.92), s);
      add(list, coloured(pango_attr_background_new, p->code), s);
    }
    if (s->look & LOOK_LINK) add(list, coloured(pango_attr_foreground_new, p->link), s);
  }
  return list;
}

static PangoLayout *layout_of(cairo_t *cr, const Paragraph *p, double width) {
  PangoContext *context = letter_context(cr);
  PangoLayout *layout = pango_layout_new(context);
  g_object_unref(context); /* the layout has it */
  PangoFontDescription *font = pango_font_description_new();
  pango_font_description_set_family(font, p->fixed_width ? p->mono : p->sans);
  pango_font_description_set_absolute_size(font, p->size * PANGO_SCALE);
  if (p->bold) pango_font_description_set_weight(font, PANGO_WEIGHT_BOLD);
  pango_layout_set_font_description(layout, font);
  pango_font_description_free(font);
  PangoAttrList *attributes = attributes_of(p);
  pango_layout_set_attributes(layout, attributes);
  pango_attr_list_unref(attributes);
  pango_layout_set_line_spacing(layout, p->fixed_width ? 1.05f : LINE_SPACING);
  pango_layout_set_auto_dir(layout, FALSE);
  if (p->right) pango_layout_set_alignment(layout, PANGO_ALIGN_RIGHT);
  if (width > 0) {
    pango_layout_set_width(layout, (int)(width * PANGO_SCALE));
    pango_layout_set_wrap(layout, p->fixed_width ? PANGO_WRAP_CHAR : PANGO_WRAP_WORD_CHAR);
  }
  char *valid = g_utf8_validate(p->text, -1, NULL) ? NULL : g_utf8_make_valid(p->text, -1);
  pango_layout_set_text(layout, valid ? valid : p->text, -1);
  g_free(valid);
  return layout;
}

static ParagraphBox box_of(PangoLayout *layout) {
  PangoRectangle logical;
  pango_layout_get_extents(layout, NULL, &logical);
  return (ParagraphBox){(double)logical.width / PANGO_SCALE, (double)logical.height / PANGO_SCALE};
}

ParagraphBox paragraph_measure(cairo_t *cr, const Paragraph *paragraph, double width) {
  PangoLayout *layout = layout_of(cr, paragraph, width);
  const ParagraphBox box = box_of(layout);
  g_object_unref(layout);
  return box;
}

ParagraphBox paragraph_draw(cairo_t *cr, const Paragraph *paragraph, double x, double y, double width) {
  PangoLayout *layout = layout_of(cr, paragraph, width);
  const ParagraphBox box = box_of(layout);
  cairo_move_to(cr, x, y);
  pango_cairo_show_layout(cr, layout);
  g_object_unref(layout);
  return box;
}

size_t paragraph_byte_at(cairo_t *cr, const Paragraph *paragraph, double width, double x, double y) {
  PangoLayout *layout = layout_of(cr, paragraph, width);
  int index = 0, trailing = 0;
  const gboolean inside =
      pango_layout_xy_to_index(layout, (int)(x * PANGO_SCALE), (int)(y * PANGO_SCALE), &index, &trailing);
  g_object_unref(layout);
  return inside ? (size_t)index : SIZE_MAX;
}
