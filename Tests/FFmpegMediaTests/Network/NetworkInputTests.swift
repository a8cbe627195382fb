// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import FFmpegMedia

/// Addresses of inputs, and what libavformat is given for them.
@Suite struct NetworkAddressTests {
  @Test(
    "A listener is recognised by its query or by its host",
    arguments: [
      ("rtmp://host/live/key", false, "rtmp://host/live/key"),
      ("rtmp://host/live/key?listen", true, "rtmp://host/live/key"),
      ("rtmp://host/live/key?a=b&listen=1", true, "rtmp://host/live/key?a=b"),
      ("rtmp://0.0.0.0:1935/live/key", true, "rtmp://0.0.0.0:1935/live/key"),
      ("srt://[::]:9000", true, "srt://[::]:9000?mode=listener"),
      ("srt://:9000?latency=1000", true, "srt://:9000?latency=1000&mode=listener"),
      ("srt://host:9000?mode=caller", false, "srt://host:9000?mode=caller"),
      ("tcp://0.0.0.0:5000", true, "tcp://0.0.0.0:5000?listen"),
      ("tcp://host:5000?listen", true, "tcp://host:5000?listen"),
      ("http://host/a.mp4", false, "http://host/a.mp4"),
    ])
  func aListenerIsRecognisedByItsQueryOrHost(_ text: String, _ listens: Bool, _ opened: String) throws {
    let input = try NetworkInput(text)
    #expect(input.isListener == listens)
    #expect(input.openedURL == opened)
  }

  @Test("Only the protocols of the scheme are allowed")
  func onlyTheProtocolsOfTheSchemeAreAllowed() throws {
    func allowed(_ text: String) throws -> Set<String> {
      let list = try NetworkInput(text).protocolOptions["protocol_whitelist"] ?? ""
      return Set(list.split(separator: ",").map(String.init))
    }
    #expect(try allowed("udp://h:1") == ["udp"])
    #expect(try allowed("srt://h:1") == ["srt"])
    #expect(try allowed("rtmp://h/a/b") == ["rtmp", "tcp"])
    for text in ["http://h/a", "https://h/a", "rtsp://h/a", "tcp://h:1", "rtmps://h/a/b"] {
      #expect(try allowed(text).isDisjoint(with: ["file", "concat", "subfile", "data", "crypto"]))
    }
    #expect(try !allowed("https://h/a").contains("http"))
  }

  @Test("Datagrams come from the interface of the address, unless it is a group's")
  func datagramsComeFromTheInterfaceOfTheAddress() throws {
    #expect(try NetworkInput("udp://127.0.0.1:5000").protocolOptions["localaddr"] == "127.0.0.1")
    #expect(try NetworkInput("udp://[::1]:5000").protocolOptions["localaddr"] == "::1")
    #expect(try NetworkInput("udp://239.1.2.3:5000").protocolOptions["localaddr"] == nil)
    #expect(try NetworkInput("udp://0.0.0.0:5000").protocolOptions["localaddr"] == nil)
  }

  @Test("The certificates of TLS servers are verified")
  func encryptedServersHaveToProveWhoTheyAre() throws {
    for text in ["https://h/a", "rtmps://h/a/b"] {
      #expect(try NetworkInput(text).protocolOptions["tls_verify"] == "1")
    }
  }

  @Test(
    "What is not an address has an error without secrets",
    arguments: ["rtmp:///live/hiddenkey", "http://0.0.0.0/a/hiddenkey", "http://h/a@b/hiddenkey"])
  func whatIsNotAnAddressHasAnError(_ text: String) {
    let error = #expect(throws: MediaFileError.self) { try NetworkInput(text) }
    #expect(error?.detail.contains("hidden") == false)
  }

  @Test("A queue without a reader keeps the newest packets; one with a reader says when it is full")
  func aQueueWithoutAReaderKeepsTheNewest() throws {
    func packet() throws -> MediaPacket { try #require(MediaPacket(size: 10)) }
    var queue = PacketQueue()
    for number in 1...2000 { #expect(queue.append(try packet(), number: number, isClaimed: false)) }
    #expect(queue.count < PacketQueue.defaultLimits.packets)
    #expect(queue.firstNumber == 2001 - queue.count)
    var claimed = PacketQueue()
    var number = 0
    while claimed.append(try packet(), number: number, isClaimed: true) { number += 1 }
    #expect(number == PacketQueue.claimedLimits.packets && claimed.firstNumber == 0)
    for _ in 0..<number { #expect(claimed.removeFirst() != nil) }
    #expect(claimed.count == 1)
    claimed.close()
    #expect(claimed.isEmpty)
    #expect(claimed.append(try packet(), number: 0, isClaimed: true))
    #expect(claimed.isEmpty)
  }
}
