/* MP4 by ffmpeg, a program of its own: frames go to it through a socket, its file comes through the one that it is
 * given as its output. H.264 in yuv420p, which every player shows; sides are made even. */
#define _GNU_SOURCE /* SOCK_CLOEXEC */
#include "viz/export/animation_parts.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

typedef struct {
  pid_t pid;
  int to; /* its input */
} Encoder;

static Status refuse_start(int reason, Error *error) {
  if (reason == ENOENT)
    return error_refuse(error,
                        "an .mp4 is made by ffmpeg, which is not installed (Debian, Ubuntu: apt-get install ffmpeg); "
                        ".webp, .gif and frame-%%04d.png need nothing");
  return error_refuse(error, "ffmpeg cannot be started: %s", strerror(reason));
}

static Status start(const Animation *a, FILE *out, Encoder *encoder, Error *error) {
  char size[32], rate[32];
  int ends[2];
  posix_spawn_file_actions_t actions;
  snprintf(size, sizeof size, "%dx%d", a->width, a->height);
  snprintf(rate, sizeof rate, "%.6g", a->frames_per_s > 0 ? a->frames_per_s : 1000.0 / a->frame_ms);
  const char *arguments[] = {
      "ffmpeg",    "-hide_banner", "-loglevel", "error",   "-y",        "-f",
      "rawvideo",  "-pix_fmt",     "bgr0",      "-s",      size,        "-r",
      rate,        "-i",           "pipe:0",    "-an",     "-c:v",      "libx264",
      "-crf",      "18",           "-pix_fmt",  "yuv420p", "-vf",       "pad=ceil(iw/2)*2:ceil(ih/2)*2",
      "-movflags", "+faststart",   "-f",        "mp4",     "/dev/fd/1", NULL};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return refuse_start(errno, error);
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, fileno(out), STDOUT_FILENO);
  char *argv[sizeof arguments / sizeof *arguments];
  memcpy(argv, arguments, sizeof argv);
  const int reason = posix_spawnp(&encoder->pid, "ffmpeg", &actions, NULL, argv, environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  encoder->to = ends[0];
  if (!reason) return STATUS_OK;
  close(ends[0]);
  return refuse_start(reason, error);
}

/* False: it does not read any more. */
static bool send_all(const Encoder *encoder, const unsigned char *bytes, size_t n) {
  while (n > 0) {
    const ssize_t sent = send(encoder->to, bytes, n, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    bytes += sent;
    n -= (size_t)sent;
  }
  return true;
}

static bool send_frame(const Encoder *encoder, const Animation *a, cairo_surface_t *surface) {
  const unsigned char *pixels = cairo_image_surface_get_data(surface);
  const size_t stride = (size_t)cairo_image_surface_get_stride(surface), row = 4 * (size_t)a->width;
  if (stride == row) return send_all(encoder, pixels, row * (size_t)a->height);
  for (int y = 0; y < a->height; y++)
    if (!send_all(encoder, pixels + (size_t)y * stride, row)) return false;
  return true;
}

/* Waits for its end; what it has to say is on stderr. */
static Status finish(Encoder *encoder, Error *error) {
  int status = 0;
  close(encoder->to);
  while (waitpid(encoder->pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return STATUS_OK;
  if (WIFEXITED(status) && WEXITSTATUS(status) == 127) return refuse_start(ENOENT, error); /* spawn could not say */
  return error_refuse(error, "ffmpeg made no .mp4 (%s %d); it needs libx264",
                      WIFEXITED(status) ? "exit status" : "signal",
                      WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
}

Status animation_write_mp4(FILE *out, const Animation *a, Error *error) {
  Encoder encoder;
  cairo_surface_t *surface;
  Status status = frame_surface(a, &surface, error);
  if (status) return status;
  status = start(a, out, &encoder, error);
  if (!status) {
    bool reads = true;
    for (uint64_t n = 0; n < a->n_frames && reads && !status; n++) {
      status = frame_draw(a, surface, n, error);
      if (!status) reads = send_frame(&encoder, a, surface);
    }
    if (status) kill(encoder.pid, SIGTERM);
    Error own = {0};
    const Status ended = finish(&encoder, status ? &own : error);
    if (!status && !ended && !reads)
      status = error_refuse(error, "ffmpeg stopped reading frames before the last");
    else if (!status)
      status = ended;
  }
  cairo_surface_destroy(surface);
  return status;
}
