// SPDX-License-Identifier: Apache-2.0
import CodecInterface
import Foundation
import Testing

@testable import FFmpegMedia

/// Packets whose pictures come late, or never.
@Suite struct PendingPacketsTests {
  private func take(_ token: Int64, _ pending: inout PendingPackets) {
    pending.append(
      CompressedPacket(
        data: UnsafeRawBufferPointer(start: nil, count: 0), token: token, presentationTime: token,
        isKeyFrame: token == 0))
  }

  private func isDropped(_ frame: DecodedFrame?) -> Bool {
    if case .dropped? = frame?.outcome { true } else { false }
  }

  /// A reference that is never shown does not let all later pictures wait.
  @Test(arguments: [0, 4, 64]) func picturesDoNotWaitForOneThatIsHeldForEver(threads: Int) {
    var pending = PendingPackets(order: .decoding)
    var reported: [DecodedFrame] = []
    var maxWaitingPackets = 0
    let bad = CodecError.badData("another one")
    for token in 0..<Int64(1000) {
      take(token, &pending)
      if token != 7 { pending.complete(token, .failed(bad)) }
      pending.markAsLost(before: threads) { $0 == 7 }
      reported += pending.takeReady()
      maxWaitingPackets = max(maxWaitingPackets, Int(token) + 1 - reported.count)
    }
    #expect(reported.map(\.token) == Array(0..<1000))
    #expect(reported.count { isDropped($0) } == 1 && isDropped(reported.first { $0.token == 7 }))
    #expect(maxWaitingPackets <= PendingPackets.maxWaitingPackets + threads + 1)
    // A reported picture is finished: if it does come, it is not reported twice.
    #expect(!pending.isPending(7))
  }

  /// As far as a decoder reorders, it is waited for.
  @Test func picturesThatComeLateAreWaitedFor() {
    var pending = PendingPackets(order: .decoding)
    var reported: [DecodedFrame] = []
    let bad = CodecError.badData("another one")
    for token in 0..<Int64(40) {
      take(token, &pending)
      if token % 36 != 0 { pending.complete(token, .failed(bad)) }
      if token == 35 { pending.complete(0, .failed(bad)) }
      pending.markAsLost(before: 4) { $0 % 36 == 0 }
      reported += pending.takeReady()
    }
    #expect(reported.map(\.token) == Array(0..<36))
    #expect(!reported.contains { isDropped($0) })
  }

  /// In the order of presentation nothing waits: a picture may be held for as long as it is of use.
  @Test func nothingWaitsInTheOrderOfPresentation() {
    var pending = PendingPackets(order: .presentation)
    for token in 0..<Int64(200) {
      take(token, &pending)
      if token > 0 { pending.complete(token, .dropped) }
      pending.markAsLost(before: 0) { $0 == 0 }
      #expect(pending.takeReady().count == (token > 0 ? 1 : 0))
    }
    #expect(pending.isPending(0))
  }
}
