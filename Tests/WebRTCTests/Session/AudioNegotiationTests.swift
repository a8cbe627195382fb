// SPDX-License-Identifier: Apache-2.0
import RealTimeTransport
import Testing

@testable import WebRTC

/// Offers and answers of audio in addition to the pictures.
@Suite struct AudioNegotiationTests {
  private static func base(_ setup: PeerDescription.Setup = .either) throws -> PeerDescription {
    PeerDescription(
      identifier: 5, credentials: .random(), fingerprints: [try DTLSIdentity().fingerprint], setup: setup)
  }

  private static func offer() throws -> PeerDescription {
    var offer = try base()
    offer.media = [
      VideoNegotiation.media(.sendOnly, profiles: [H264Profile(.high, level: 31)], source: 10),
      AudioNegotiation.media(.sendOnly, source: 12),
    ]
    return offer
  }

  /// The answer of a server that takes everything.
  private static func answer(_ change: (inout PeerDescription) -> Void = { _ in }) throws -> PeerDescription {
    var answer = try base(.active)
    answer.media = try offer().media
    for index in answer.media.indices { answer.media[index].direction = .receiveOnly }
    change(&answer)
    return try PeerDescription(answer.text)
  }

  @Test func anOfferIsWrittenAsTheStandardHasIt() throws {
    let text = try Self.offer().text
    #expect(text.contains("a=group:BUNDLE 0 1\r\n") && text.contains("m=audio 9 UDP/TLS/RTP/SAVPF 120\r\n"))
    #expect(text.contains("a=rtpmap:120 opus/48000/2\r\n") && text.contains("a=fmtp:120 sprop-stereo=1\r\n"))
    #expect(text.contains("a=ssrc:12 cname:vtencode\r\n") && text.contains("a=ssrc:10 cname:vtencode\r\n"))
    // One stream for players, so that both are played together.
    #expect(text.contains("a=msid:vtencode audio\r\n") && text.contains("a=msid:vtencode video\r\n"))
    let types = try PeerDescription(text).media.flatMap(\.formats).map(\.payloadType)
    #expect(Set(types).count == types.count)
  }

  @Test func audioIsSentToWhoTakesIt() throws {
    let offer = try Self.offer()
    let taken = try #require(AudioNegotiation.accept(try Self.answer(), sending: offer))
    #expect(taken.source == 12 && taken.payloadType == 120 && taken.retransmits && taken.maxRate == nil)
    // The pictures' part is as it was.
    #expect(try VideoNegotiation.accept(try Self.answer(), sending: offer).configuration.source == 10)
    // The name of the description is in each packet.
    let fields = PacketExtensions(
      taken.headerExtension, ExtensionIdentifiers([HeaderExtensionURI.mid: 1]))
    #expect(fields.mid == "1")
    for (text, rate) in [("24000", 24_000), ("1", 6000), ("99999999999", 510_000), ("x", nil)] {
      let answer = try Self.answer { $0.media[1].formats[0].parameters["maxaveragebitrate"] = text }
      #expect(AudioNegotiation.accept(answer, sending: offer)?.maxRate == rate)
    }
  }

  @Test func whoTakesNoneGetsNone() throws {
    let offer = try Self.offer()
    let changes: [(inout PeerDescription) -> Void] = [
      { $0.media[1].isRejected = true }, { $0.media[1].direction = .inactive },
      { $0.media[1].formats = [] }, { $0.media[1].formats[0].codec = "PCMU" },
      { $0.media[1].formats[0].clockRate = 8000 }, { $0.media[1].formats[0].channels = nil },
      { $0.media[1].direction = .sendOnly }, { $0.media[1].kind = "video" },
    ]
    for (index, change) in changes.enumerated() {
      #expect(AudioNegotiation.accept(try Self.answer(change), sending: offer) == nil, "\(index)")
    }
    // An offer without audio is accepted as before, and an answer with audio that was not offered
    // is not.
    var silent = offer
    silent.media.removeLast()
    let answer = try Self.answer { $0.media.removeLast() }
    #expect(AudioNegotiation.accept(answer, sending: silent) == nil)
    #expect(try VideoNegotiation.accept(answer, sending: silent).profile.kind == .high)
    #expect(AudioNegotiation.accept(try Self.answer(), sending: silent) == nil)
    #expect(throws: VideoNegotiation.Failure.self) {
      try VideoNegotiation.accept(try Self.answer(), sending: silent)
    }
  }

  @Test func aBrowserIsAnswered() throws {
    let offer = try PeerDescription(browserOffer)
    var (answer, _) = try VideoNegotiation.answer(
      to: offer, sending: .constrainedBaseline, source: 77, repairSource: 78, base: Self.base())
    let sending = try #require(AudioNegotiation.add(to: &answer, offer, source: 79))
    #expect(sending.payloadType == 111 && sending.source == 79 && !sending.retransmits)
    let read = try PeerDescription(answer.text)
    #expect(read.media.map(\.isRejected) == [false, false])
    #expect(read.media.map(\.direction) == [.sendOnly, .sendOnly] && read.media[0].sources == [79])
    #expect(answer.text.contains("a=group:BUNDLE 0 1\r\n"))
    // A browser that wants pictures alone.
    let silent = try PeerDescription(browserOffer.replacing("m=audio 9", with: "m=audio 0"))
    var (other, _) = try VideoNegotiation.answer(
      to: silent, sending: .constrainedBaseline, source: 77, repairSource: 78, base: Self.base())
    let before = other
    #expect(AudioNegotiation.add(to: &other, silent, source: 79) == nil && other == before)
  }

  @Test func audioIsReceived() throws {
    let answer = try Self.answer { $0.media[1].direction = .sendOnly }
    let taken = try #require(AudioNegotiation.accept(receiving: answer, source: 20))
    #expect(taken.payloadTypes == [120] && taken.source == 20 && taken.retransmits && taken.media == nil)
    #expect(AudioNegotiation.accept(receiving: try Self.answer(), source: 20) == nil)
  }
}
