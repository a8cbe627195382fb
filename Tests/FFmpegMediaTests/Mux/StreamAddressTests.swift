// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import Foundation
import Testing

@testable import FFmpegMedia

/// Addresses of servers, of which no secret may appear in a text.
@Suite struct StreamAddressTests {
  @Test(
    "The text of an address has no key, password or query",
    arguments: [
      ("rtmp://host/app/key", "rtmp://host/app/***"),
      ("rtmps://host:443/app/one/two?token=abc", "rtmps://host:443/app/***?***"),
      ("RTMP://user:word@host/app/key", "rtmp://***@host/app/***"),
      ("srt://host:9000?passphrase=0123456789", "srt://host:9000?***"),
      ("rtsp://a@b@host/live", "rtsp://***@host/***"), ("rtmp://host/key", "rtmp://host/***"),
      ("tcp://:5000?listen", "tcp://:5000?***"),
      ("udp://239.0.0.1:1234", "udp://239.0.0.1:1234"),
    ])
  func theTextOfAnAddressHasNoSecret(_ url: String, _ text: String) throws {
    #expect(try #require(StreamAddress(url)).description == text)
  }

  @Test("A message of a library is cleared of every secret, also in percent encoding")
  func aMessageIsClearedOfSecrets() throws {
    let address = try #require(StreamAddress("rtmp://anna:pass%20word@host/app/stream-key?token=t0k3n"))
    for secret in ["stream-key", "t0k3n", "pass%20word", "pass word", "anna", "token=t0k3n"] {
      let text = address.redacted("Server says: \(secret) is wrong (\(secret))")
      #expect(!text.contains(secret) && text.hasPrefix("Server says: "), "\(text)")
    }
    #expect(!address.redacted("rtmp://anna:pass%20word@host/app/stream-key?token=t0k3n: no").contains("t0k"))
  }

  @Test("A key that is an ordinary word leaves longer words and the program's own terms as they are")
  func ordinaryWordsStay() throws {
    let address = try #require(StreamAddress("srt://host:1/app/live?mode=listener&passphrase=0123456789"))
    #expect(
      address.redacted("app/live: no listener was found, 3 packets were delivered to live")
        == "app/***: no listener was found, 3 packets were delivered to ***")
    #expect(
      try #require(StreamAddress("rtmp://h/app/aaa")).redacted("aaa baaa aaab aaaaaa aaa")
        == "*** baaa aaab aaaaaa ***")
    #expect(try #require(StreamAddress("rtmp://h/app/k3y")).redacted("xk3yx") == "x***x")
    // A word that is long, has capitals or is not part of the path is a secret wherever it occurs.
    for (url, secret) in [
      ("rtmp://h/app/FooBar", "x%2FFooBar"), ("rtmp://h/app/secretkey", "publishsecretkey"),
      ("rtmp://anna:hunter@h/app/key", "hunterhunter"), ("srt://h:1?passphrase=abcdef", "xabcdefx"),
    ] {
      let text = try #require(StreamAddress(url)).redacted(secret)
      #expect(text.contains("***") && !text.contains("FooBar") && !text.contains("secretkey"), "\(text)")
      #expect(!text.contains("hunter") && !text.contains("abcdef"), "\(text)")
    }
  }

  @Test(
    "What is not an address of a live stream is none",
    arguments: [
      "http://host/x", "rtmp:/host", "rtmp://", "rtmp:///app/key", "file:///tmp/x", "rtmp://host/a b",
      "rtmp://host/\u{1}", "rtmp://user:pass/word@host/app/key", "rtmp://user:pass?word@host/app/key",
      "movie.mp4", "-", "srt://" + String(repeating: "a", count: 5000),
    ])
  func whatIsNotAnAddress(_ text: String) { #expect(StreamAddress(text) == nil) }

  @Test("An argument that is an address is cleared of secrets, whether it is right or wrong")
  func anArgumentIsClearedOfSecrets() {
    for argument in [
      "rtmp://user:pa55word@host/live/KEY", "rtmp://user:pa55/word@host/live/KEY",
      "rtmp:/user:pa55word@h/KEY",
      "rtmp://user:pa55?word@host/live/KEY", "RTSP://host/KEY", "srt://h:1?passphrase=pa55word12",
    ] {
      let text = StreamAddress.redacting(argument, in: "Unexpected argument '\(argument)'")
      #expect(!text.contains("pa55") && !text.contains("KEY") && text.contains("***"), "\(text)")
    }
    #expect(StreamAddress.redacting("rtmp.mp4", in: "no file 'rtmp.mp4'") == "no file 'rtmp.mp4'")
    #expect(StreamAddress.redacting("ftp://h/a", in: "'ftp://h/a'") == "'ftp://h/a'")
  }

  @Test("An end that waits for the other one is known by its query")
  func aListenerIsKnown() throws {
    for (url, listens) in [
      ("tcp://h:1?listen", true), ("tcp://h:1?listen=1", true), ("tcp://h:1?listen=0", false),
      ("srt://h:1?mode=listener&latency=9", true), ("srt://h:1?mode=caller", false), ("tcp://h:1", false),
    ] {
      #expect(try #require(StreamAddress(url)).isListener == listens, "\(url)")
    }
  }

  @Test("A connection of SRT is held for its latency, within bounds")
  func aConnectionOfSRTIsHeld() throws {
    for (query, seconds) in [
      ("", 0.37), ("?latency=2000000", 2.25), ("?latency=1e300", 8.25), ("?latency=nan", 0.37),
      ("?latency=-1", 0.37),
    ] {
      #expect(abs(try #require(StreamAddress("srt://h:1" + query)).holdingTime - seconds) < 1e-9, "\(query)")
    }
    #expect(try #require(StreamAddress("rtmp://h/a/k?latency=2000000")).holdingTime == 0)
  }
}

@Suite struct SampleInterleaverTests {
  private func time(_ value: Int64) -> CMTime { CMTime(value: value, timescale: 10) }

  @Test("Samples come in the order of decode times, and wait for a track that has none")
  func samplesComeInOrder() {
    var interleaver = SampleInterleaver<Int>(tracks: 2, timeout: time(50))
    for value in [0, 10, 20] { interleaver.push(value, at: time(Int64(value)), to: 0) }
    #expect(interleaver.pop() == nil)
    interleaver.push(5, at: time(5), to: 1)
    interleaver.push(15, at: time(15), to: 1)
    #expect([interleaver.pop(), interleaver.pop(), interleaver.pop(), interleaver.pop()] == [0, 5, 10, 15])
    #expect(interleaver.pop() == nil)
    interleaver.end(1)
    #expect(interleaver.pop() == 20 && interleaver.pop() == nil)
  }

  @Test("A silent track does not hold up more than the patience, and nothing is left at the end")
  func aSilentTrackDoesNotHoldUpMore() {
    var interleaver = SampleInterleaver<Int>(tracks: 2, timeout: time(50))
    var taken: [Int] = []
    for value in 0..<200 {
      interleaver.push(value, at: time(Int64(value)), to: 0)
      while let next = interleaver.pop() { taken.append(next) }
      #expect(taken.count == max(0, value - 50))
    }
    while let next = interleaver.pop(isLast: true) { taken.append(next) }
    #expect(taken == Array(0..<200))
  }

  @Test("Nothing waits for a sparse track, whose samples come in order where they are there in time")
  func nothingWaitsForASparseTrack() {
    var interleaver = SampleInterleaver<Int>(tracks: 3, timeout: time(50), sparse: [2])
    interleaver.push(0, at: time(0), to: 0)
    #expect(interleaver.pop() == nil)
    interleaver.push(1, at: time(1), to: 1)
    #expect(interleaver.pop() == 0)
    interleaver.push(2, at: time(0), to: 2)
    interleaver.push(10, at: time(10), to: 0)
    #expect([interleaver.pop(), interleaver.pop(), interleaver.pop()] == [2, 1, nil])
  }
}
