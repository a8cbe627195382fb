// SPDX-License-Identifier: Apache-2.0
// SDL 2, loaded with the first window or audio device: a server that encodes has none, and does not
// miss it.
#ifndef CSDL2_SHIM_H
#define CSDL2_SHIM_H

#define SDL_MAIN_HANDLED
#include <SDL2/SDL.h>
#include <dlfcn.h>
#include <stddef.h>

#define OVT_SDL_FUNCTIONS(X)      \
  X(SDL_SetMainReady)             \
  X(SDL_SetHint)                  \
  X(SDL_Init)                     \
  X(SDL_InitSubSystem)            \
  X(SDL_QuitSubSystem)            \
  X(SDL_GetError)                 \
  X(SDL_GetCurrentVideoDriver)    \
  X(SDL_GetVersion)               \
  X(SDL_CreateWindow)             \
  X(SDL_DestroyWindow)            \
  X(SDL_GetWindowID)              \
  X(SDL_GetWindowSize)            \
  X(SDL_GetWindowFlags)           \
  X(SDL_SetWindowSize)            \
  X(SDL_GetWindowPosition)        \
  X(SDL_SetWindowPosition)        \
  X(SDL_GetDisplayBounds)         \
  X(SDL_SetWindowTitle)           \
  X(SDL_SetWindowFullscreen)      \
  X(SDL_GetWindowDisplayIndex)    \
  X(SDL_GetCurrentDisplayMode)    \
  X(SDL_CreateRenderer)           \
  X(SDL_DestroyRenderer)          \
  X(SDL_GetRendererInfo)          \
  X(SDL_GL_GetProcAddress)        \
  X(SDL_GetRendererOutputSize)    \
  X(SDL_CreateTexture)            \
  X(SDL_DestroyTexture)           \
  X(SDL_SetTextureBlendMode)      \
  X(SDL_UpdateTexture)            \
  X(SDL_UpdateYUVTexture)         \
  X(SDL_UpdateNVTexture)          \
  X(SDL_SetYUVConversionMode)     \
  X(SDL_SetRenderDrawColor)       \
  X(SDL_SetRenderDrawBlendMode)   \
  X(SDL_RenderClear)              \
  X(SDL_RenderCopyEx)             \
  X(SDL_RenderCopy)               \
  X(SDL_RenderFillRect)           \
  X(SDL_RenderPresent)            \
  X(SDL_RenderReadPixels)         \
  X(SDL_PollEvent)                \
  X(SDL_WaitEventTimeout)         \
  X(SDL_PushEvent)                \
  X(SDL_RegisterEvents)           \
  X(SDL_OpenAudioDevice)          \
  X(SDL_CloseAudioDevice)         \
  X(SDL_PauseAudioDevice)

/// The functions of SDL that are used, of the types that its headers declare.
struct ovt_sdl {
#define OVT_MEMBER(name) __typeof__(&name) name;
  OVT_SDL_FUNCTIONS(OVT_MEMBER)
#undef OVT_MEMBER
};

/// Loads SDL 2.
/// - Returns: Null, or what is missing: a text of the loader's, good until the thread's next call
///   of it.
static inline const char *ovt_load_sdl(struct ovt_sdl *library) {
  // Never closed: its threads would run on.
  void *handle = dlopen("libSDL2-2.0.so.0", RTLD_NOW | RTLD_LOCAL);
  if (handle == NULL) return dlerror();
#define OVT_LOAD(name)                                     \
  library->name = (__typeof__(&name))dlsym(handle, #name); \
  if (library->name == NULL) return "SDL has no function " #name;
  OVT_SDL_FUNCTIONS(OVT_LOAD)
#undef OVT_LOAD
  return NULL;
}

/// Whether somebody manages the windows of an X server (EWMH's _NET_SUPPORTING_WM_CHECK, or an
/// older manager's grab of the root window, which is not looked for). SDL asks the manager for a
/// full screen, and hears of no answer.
/// - Returns: 0 if nobody does; 1 if somebody does, or the server cannot be asked.
static inline int ovt_x11_has_manager(void) {
  void *handle = dlopen("libX11.so.6", RTLD_NOW | RTLD_LOCAL);
  if (handle == NULL) return 1;
  void *(*open)(const char *) = (void *(*)(const char *))dlsym(handle, "XOpenDisplay");
  int (*close)(void *) = (int (*)(void *))dlsym(handle, "XCloseDisplay");
  unsigned long (*root)(void *) = (unsigned long (*)(void *))dlsym(handle, "XDefaultRootWindow");
  unsigned long (*atom)(void *, const char *, int) =
      (unsigned long (*)(void *, const char *, int))dlsym(handle, "XInternAtom");
  int (*release)(void *) = (int (*)(void *))dlsym(handle, "XFree");
  int (*property)(void *, unsigned long, unsigned long, long, long, int, unsigned long, unsigned long *, int *,
                  unsigned long *, unsigned long *, unsigned char **) =
      (int (*)(void *, unsigned long, unsigned long, long, long, int, unsigned long, unsigned long *, int *,
               unsigned long *, unsigned long *, unsigned char **))dlsym(handle, "XGetWindowProperty");
  if (!open || !close || !root || !atom || !release || !property) return 1;
  void *display = open(NULL);
  if (display == NULL) return 1;
  unsigned long type = 0, count = 0, rest = 0, name = atom(display, "_NET_SUPPORTING_WM_CHECK", 1);
  int format = 0, found = 0;
  unsigned char *value = NULL;
  // Of any type, one value.
  if (name != 0 &&
      property(display, root(display), name, 0, 1, 0, 0, &type, &format, &count, &rest, &value) == 0) {
    found = type != 0 && count > 0;
    if (value != NULL) release(value);
  }
  close(display);
  return found;
}

#endif
