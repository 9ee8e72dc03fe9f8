/* The options of pictures, apart from what draws them: the small program has them too. */
#include "viz/cli/chart_file.h"

#include "sim/base/size.h"

static Status set_size(void *target, const char *value, Error *error) {
  ChartRequest *c = target;
  const size_t length = strcspn(value, "xX");
  char width[32];
  int64_t w = 0, h = 0;
  snprintf(width, sizeof width, "%.*s", (int)(length < 31 ? length : 31), value);
  Error inner = {0};
  if (!value[length] || size_parse_count(width, &w, &inner) || size_parse_count(value + length + 1, &h, &inner) ||
      w > 16384 || h > 16384)
    return error_refuse(error, "'%s' is no size; give WIDTHxHEIGHT in pixels up to 16384, such as 1920x1080",
                        quote_text(value).text);
  c->width = (int)w;
  c->height = (int)h;
  c->given = true;
  return STATUS_OK;
}

static const char *const THEMES[] = {"light", "dark", NULL};

/* Words that go into the picture. */
#define WORDS(member, what) OPTION_TEXT(ChartRequest, member, what), .given = offsetof(ChartRequest, given)

#define SIZE_AND_THEME                                                                                                 \
  OPTION_ROW("size", "WxH", "Size of the picture in pixels. Default 1280x720.", .set = set_size), {                    \
    .name = "theme", .argument = "THEME", OPTION_CHOICE(ChartRequest, dark, "is no theme"), .names = THEMES,           \
    .given = offsetof(ChartRequest, theme_given), .help = "light or dark. Default light."                              \
  }
#define TITLE                                                                                                          \
  {                                                                                                                    \
    .name = "title", .argument = "TEXT", WORDS(title, "the title"),                                                    \
    .help = "Title of the picture, in place of its own."                                                               \
  }

const Option SIZE_OPTIONS[] = {SIZE_AND_THEME, {0}};
const Option PICTURE_OPTIONS[] = {SIZE_AND_THEME, TITLE, {0}};
const Option CHART_OPTIONS[] = {
    SIZE_AND_THEME,
    TITLE,
    OPTION_ROW("x-label", "TEXT", "Label of the x axis, in place of its own.",
               WORDS(x_label, "the label of the x axis")),
    OPTION_ROW("y-label", "TEXT", "Label of the y axis, in place of its own.",
               WORDS(y_label, "the label of the y axis")),
    {0},
};

Status chart_request_check(const ChartRequest *chart, const OutputRequest *output, Error *error) {
  if ((chart->given || chart->theme_given) && !*output->output)
    return error_refuse(
        error, "--size, --theme, --title and labels are for pictures; name one with -o FILE.png, .svg or .pdf");
  return STATUS_OK;
}
