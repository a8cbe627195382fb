// SPDX-License-Identifier: Apache-2.0

// The names of the frameworks that programs lean on, each used as programs use it.
@main struct Names {
  static func main() {
    byteOrder()
    numbers()
    errorsAndKeys()
    pixelFormats()
    audioBuffers()
    times()
    pictures()
    queues()
    descriptions()
    metadata()
    shapes()
    finish()
  }
}
