// SPDX-License-Identifier: Apache-2.0
import Foundation

// Short programs in the shape of other people's tests: each prints what does not hold.
@main struct Idioms {
  static func main() async {
    attachments()
    coreFoundation()
    attempt { try blockBuffers() }
    attempt { try formatDescriptions() }
    pixelBuffers()
    pools()
    times()
    attempt { try clocks() }
    attempt { try queues() }
    decoding()
    transfer()
    do {
      try await movies()
      try await concurrency()
    } catch {
      check(false, "\(error)")
    }
    let (total, failed) = Checks.shared.summary()
    print("\(total - failed) of \(total) checks hold")
    exit(failed == 0 ? 0 : 1)
  }

  static func attempt(_ body: () throws -> Void) {
    do { try body() } catch { check(false, "\(error)") }
  }
}
