// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import WebRTC

/// An offer in the shape in which Chromium writes them, shortened.
let browserOffer = """
  v=0
  o=- 4611731400430051336 2 IN IP4 127.0.0.1
  s=-
  t=0 0
  a=group:BUNDLE 0 1
  a=extmap-allow-mixed
  a=msid-semantic: WMS
  m=audio 9 UDP/TLS/RTP/SAVPF 111
  c=IN IP4 0.0.0.0
  a=rtcp:9 IN IP4 0.0.0.0
  a=ice-ufrag:EsAw
  a=ice-pwd:P2uYro0UCOQ4zxjKXaWCBui1
  a=ice-options:trickle
  a=fingerprint:sha-256 D2:FA:0E:C3:22:59:5E:14:95:69:92:3D:13:B4:84:24:2C:C2:A2:C0:3E:FD:34:8E:5E:EA:6F:AF:52:CE:E6:0F
  a=setup:actpass
  a=mid:0
  a=recvonly
  a=rtcp-mux
  a=rtpmap:111 opus/48000/2
  a=fmtp:111 minptime=10;useinbandfec=1
  m=video 9 UDP/TLS/RTP/SAVPF 96 97 102 103 39 40
  c=IN IP4 0.0.0.0
  a=candidate:1 1 udp 2113937151 192.0.2.9 50000 typ host generation 0
  a=candidate:2 1 udp 2113937151 f6b3a1c2-0000.local 50001 typ host
  a=ice-ufrag:EsAw
  a=ice-pwd:P2uYro0UCOQ4zxjKXaWCBui1
  a=fingerprint:sha-256 D2:FA:0E:C3:22:59:5E:14:95:69:92:3D:13:B4:84:24:2C:C2:A2:C0:3E:FD:34:8E:5E:EA:6F:AF:52:CE:E6:0F
  a=setup:actpass
  a=mid:1
  a=extmap:2 http://www.webrtc.org/experiments/rtp-hdrext/abs-send-time
  a=extmap:4 http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01
  a=extmap:9 urn:ietf:params:rtp-hdrext:sdes:mid
  a=recvonly
  a=rtcp-mux
  a=rtcp-rsize
  a=rtpmap:96 VP8/90000
  a=rtcp-fb:96 nack
  a=rtpmap:97 rtx/90000
  a=fmtp:97 apt=96
  a=rtpmap:102 H264/90000
  a=rtcp-fb:102 goog-remb
  a=rtcp-fb:102 transport-cc
  a=rtcp-fb:102 ccm fir
  a=rtcp-fb:102 nack
  a=rtcp-fb:102 nack pli
  a=fmtp:102 level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=42e01f
  a=rtpmap:103 rtx/90000
  a=fmtp:103 apt=102
  a=rtpmap:39 H264/90000
  a=rtcp-fb:39 nack
  a=fmtp:39 level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=64001f
  a=rtpmap:40 rtx/90000
  a=fmtp:40 apt=39

  """

@Suite struct SDPTests {
  private func base() throws -> PeerDescription {
    let address = try #require(TransportAddress("192.0.2.1", port: 4000))
    var base = PeerDescription(
      identifier: 5, credentials: .random(), fingerprints: [try DTLSIdentity().fingerprint], setup: .either)
    base.candidates = [ICECandidate(.host, address)]
    base.hasAllCandidates = true
    return base
  }

  @Test func aBrowsersOfferIsRead() throws {
    let offer = try PeerDescription(browserOffer)
    #expect(offer.credentials.fragment == "EsAw" && offer.setup == .either && !offer.isLite)
    #expect(offer.fingerprints.count == 1 && offer.candidates.count == 1)
    #expect(offer.media.map(\.kind) == ["audio", "video"] && offer.media.map(\.mid) == ["0", "1"])
    #expect(
      offer.media[0].formats.first?.channels == 2 && offer.media[0].formats.first?.isCodec("OPUS") == true)
    let video = offer.media[1]
    #expect(
      video.formats.map(\.payloadType) == [96, 97, 102, 103, 39, 40] && video.direction == .receiveOnly)
    #expect(video.retransmission(of: 102)?.payloadType == 103)
    #expect(video.formats[2].h264Profile == H264Profile(.constrainedBaseline, level: 31))
    #expect(video.extensions[HeaderExtensionURI.transportSequence] == 4)
  }

  @Test func anAnswerTakesThePicturesAndRefusesTheRest() throws {
    let offer = try PeerDescription(browserOffer)
    let (answer, configuration) = try VideoNegotiation.answer(
      to: offer, sending: .high, source: 77, repairSource: 78, base: base())
    // High is offered without rtx feedback of the transport, and so is sent without.
    #expect(configuration.payloadType == 39 && configuration.repairType == 40)
    #expect(configuration.extensions.transportSequence == nil && configuration.extensions.mid == 9)
    let other = try VideoNegotiation.answer(
      to: offer, sending: .constrainedBaseline, source: 77, repairSource: 78, base: base()
    ).configuration
    #expect(other.payloadType == 102 && other.extensions.transportSequence == 4 && other.repairSource == 78)
    // A written description is read again, as a browser would.
    let read = try PeerDescription(answer.text)
    #expect(read.media.map(\.isRejected) == [true, false] && read.media[1].direction == .sendOnly)
    #expect(read.media[1].sources == [77] && read.media[1].repairSources == [77: 78])
    #expect(
      read.setup == .passive
        && read.candidates
          == answer.candidates.map { candidate in
            var bare = candidate
            bare.related = nil
            return bare
          }
    )
    #expect(read.media[1].formats == answer.media[1].formats && read.hasAllCandidates)
  }

  @Test func aStreamThatNobodyDecodesIsRefused() throws {
    let text = browserOffer.replacing("64001f", with: "4d001f")
    let offer = try PeerDescription(text)
    #expect(throws: VideoNegotiation.Failure.profile("42e01f, 4d001f")) {
      try VideoNegotiation.answer(to: offer, sending: .high, source: 1, repairSource: 2, base: base())
    }
    let none = try PeerDescription(
      browserOffer.replacing("packetization-mode=1", with: "packetization-mode=0"))
    #expect(throws: VideoNegotiation.Failure.noH264) {
      try VideoNegotiation.answer(to: none, sending: .high, source: 1, repairSource: 2, base: base())
    }
  }

  @Test func offersAreAnsweredBothWays() throws {
    let (identity, profiles) = (
      try DTLSIdentity(), [H264Profile(.high, level: 31), H264Profile(.constrainedBaseline, level: 31)]
    )
    var offer = try base()
    offer.media = [VideoNegotiation.media(.sendOnly, profiles: profiles, source: 10, repairSource: 11)]
    #expect(
      try PeerDescription(offer.text).media
        == offer.media.map {
          var media = $0
          media.writtenFormats = ["96", "97", "98", "99"]
          return media
        })
    // A server that takes Constrained Baseline without retransmissions.
    var answer = PeerDescription(
      identifier: 1, credentials: .random(), fingerprints: [identity.fingerprint], setup: .active)
    answer.media = offer.media
    answer.media[0].direction = .receiveOnly
    answer.media[0].formats = [offer.media[0].formats[2]]
    answer.media[0].formats[0].feedback = ["nack pli"]
    let (configuration, profile) = try VideoNegotiation.accept(answer, sending: offer)
    #expect(
      profile.kind == .constrainedBaseline && configuration.payloadType == 98 && configuration.source == 10)
    #expect(configuration.repairType == nil && !configuration.retransmits)
    #expect(configuration.extensions.transportSequence == nil)
    answer.media[0].isRejected = true
    #expect(throws: VideoNegotiation.Failure.mismatch("it refuses the pictures")) {
      try VideoNegotiation.accept(answer, sending: offer)
    }
  }

  @Test func profilesAreReadByTheirFlags() {
    #expect(H264Profile("42001f")?.kind == .baseline && H264Profile("42e01f")?.kind == .constrainedBaseline)
    #expect(
      H264Profile("4d801f")?.kind == .constrainedBaseline && H264Profile("640c1f")?.kind == .constrainedHigh)
    #expect(H264Profile("42f00b")?.level == 9 && H264Profile("64001g") == nil && H264Profile("580000") == nil)
    #expect(H264Profile(parameterSet: [0x67, 0x64, 0, 0x1F])?.text == "64001f")
    #expect(H264Profile(.high, level: 31).decodes(.main) && !H264Profile(.main, level: 31).decodes(.high))
  }

  @Test func badDescriptionsAreRefused() throws {
    for (find, replacement) in [
      ("v=0", "v=1"), ("a=ice-ufrag:EsAw", "a=ice-ufrag:Es"), ("sha-256", "sha-1"),
      ("a=setup:actpass", "a=setup:holdconn"), ("m=video 9", "m=video x"), ("t=0 0", "?"),
      ("m=audio 9", "m=audio"),
    ] {
      #expect(throws: PeerDescription.Failure.self, "\(find)") {
        try PeerDescription(browserOffer.replacing(find, with: replacement))
      }
    }
    #expect(throws: PeerDescription.Failure.syntax(.tooLarge)) {
      try PeerDescription(browserOffer + String(repeating: "a=x\n", count: 100_000))
    }
    #expect(throws: PeerDescription.Failure.syntax(.tooLarge)) {
      try PeerDescription(browserOffer + String(repeating: "a=x\n", count: 3000))
    }
    #expect(throws: PeerDescription.Failure.self) { try PeerDescription("") }
    // Truncated anywhere it is refused or read, and nothing traps.
    let text = Array(browserOffer.utf8)
    for count in stride(from: 0, to: text.count, by: 7) {
      _ = try? PeerDescription(String(decoding: text.prefix(count), as: UTF8.self))
    }
  }
}
