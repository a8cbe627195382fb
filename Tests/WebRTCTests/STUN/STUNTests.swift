// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import WebRTC

/// Reads bytes that are written as hexadecimal digits with spaces.
func hexadecimal(_ text: String) -> [UInt8] {
  text.split(whereSeparator: \.isWhitespace).compactMap { UInt8($0, radix: 16) }
}

@Suite struct STUNTests {
  /// The sample request of RFC 5769, 2.1; its software name and padding are the document's.
  private static let request = hexadecimal(
    """
    00 01 00 58 21 12 a4 42 b7 e7 a7 01 bc 34 d6 86 fa 87 df ae 80 22 00 10 53 54 55 4e 20 74 65 73 74 20 63 6c
    69 65 6e 74 00 24 00 04 6e 00 01 ff 80 29 00 08 93 2f f9 b1 51 26 3b 36 00 06 00 09 65 76 74 6a 3a 68 36 76
    59 20 20 20 00 08 00 14 9a ea a7 0c bf d8 cb 56 78 1e f2 b5 b2 d3 f2 49 c1 b5 71 a2 80 28 00 04 e5 7a 3b cf
    """)
  /// The sample response of RFC 5769, 2.2.
  private static let response = hexadecimal(
    """
    01 01 00 3c 21 12 a4 42 b7 e7 a7 01 bc 34 d6 86 fa 87 df ae 80 22 00 0b 74 65 73 74 20 76 65 63 74 6f 72 20
    00 20 00 08 00 01 a1 47 e1 12 a6 43 00 08 00 14 2b 91 f5 99 fd 9e 90 c3 8c 74 89 f9 2a f9 ba 53 f0 6b e7 d7
    80 28 00 04 c0 7d 4c 96
    """)
  private static let password = "VOkJxbRl1RmTxUk/WvJxBt"

  @Test func theSamplesOfTheStandardAreRead() throws {
    let request = try #require(STUNMessage(Self.request))
    #expect(request.kind == .request && request.username == "evtj:h6vY")
    #expect(request.priority == 0x6E00_01FF && request.controlled == 0x932F_F9B1_5126_3B36)
    #expect(request.isAuthentic(password: Self.password))
    #expect(!request.isAuthentic(password: "VOkJxbRl1RmTxUk/WvJxBu"))
    let response = try #require(STUNMessage(Self.response))
    #expect(response.kind == .success && response.isAuthentic(password: Self.password))
    #expect(response.mappedAddress == TransportAddress("192.0.2.1", port: 32_853))
  }

  @Test func noByteCanBeChanged() {
    // But for the number of the fingerprint's attribute: an unknown one there does not count.
    for index in Self.request.indices where !(Self.request.count - 8..<Self.request.count - 4).contains(index)
    {
      var bytes = Self.request
      bytes[index] ^= 0x10
      let message = STUNMessage(bytes)
      #expect(message?.isAuthentic(password: Self.password) != true, "byte \(index)")
    }
    for count in 0..<Self.request.count { #expect(STUNMessage(Array(Self.request.prefix(count))) == nil) }
  }

  @Test func whatIsWrittenIsReadAgain() throws {
    var message = STUNMessage(.request)
    message.username = "theirs:ours"
    message.priority = 7
    message.nominates = true
    message.controlling = 1 << 63
    message.mappedAddress = TransportAddress("2001:db8::1", port: 9)
    let bytes = try #require(message.bytes(password: "a password of some length"))
    let again = try #require(STUNMessage(bytes))
    #expect(again == message && again.isAuthentic(password: "a password of some length"))
    var failure = STUNMessage(.failure, transaction: message.transaction)
    failure.errorCode = 487
    let reported = try #require(failure.bytes(password: nil).flatMap { STUNMessage($0) })
    #expect(reported.errorCode == 487 && !reported.hasIntegrity && !reported.isAuthentic(password: ""))
  }

  @Test func whatFollowsTheAuthenticationDoesNotCount() throws {
    var message = STUNMessage(.request)
    message.username = "a:b"
    var bytes = try #require(message.bytes(password: "p"))
    // USE-CANDIDATE between the authentication and the end, with no fingerprint.
    bytes.removeLast(8)
    bytes += [0, 0x25, 0, 0]
    bytes[3] = UInt8(bytes.count - 20)
    let read = try #require(STUNMessage(bytes))
    #expect(!read.nominates && read.isAuthentic(password: "p"))
  }

  @Test func addressesAreReadAsTheSystemReadsThem() {
    #expect(TransportAddress("127.0.0.1", port: 1)?.isLoopback == true)
    #expect(TransportAddress("::1", port: 1)?.isLoopback == true)
    #expect(TransportAddress("a.example", port: 1) == nil && TransportAddress("1.2.3", port: 1) == nil)
    #expect(TransportAddress("224.0.0.1", port: 1)?.isUnicast == false)
    #expect(TransportAddress("ff02::1", port: 1)?.isUnicast == false)
    #expect(TransportAddress("0.0.0.0", port: 1)?.isUnicast == false)
    #expect(TransportAddress("10.0.0.1", port: 0)?.isUnicast == false)
    #expect(TransportAddress("2001:db8::7", port: 80)?.description == "[2001:db8::7]:80")
  }
}
