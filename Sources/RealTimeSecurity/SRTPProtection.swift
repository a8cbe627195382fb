// SPDX-License-Identifier: Apache-2.0
import CSRTP
import RealTimeTransport

/// Protects packets by SRTP and SRTCP (RFC 3711, RFC 7714): encryption, authentication and replay
/// protection. The implementation is libsrtp.
package final class SRTPProtection: PacketProtection {
  /// A cipher with its authentication.
  package enum Profile: Sendable {
    /// The profile that two ends of `vtencode` use.
    case aes256GCM
    /// The profile that WebRTC's peers agree on (RFC 5764, 4.1.2; RFC 7714, 14.2).
    case aes128GCM, aes128CounterSHA1

    /// The sizes of a key and of its salt in bytes.
    package var keySize: Int { self == .aes256GCM ? 32 : 16 }
    package var saltSize: Int { self == .aes128CounterSHA1 ? 14 : 12 }

    fileprivate var code: ovt_srtp_profile {
      switch self {
      case .aes256GCM: OVT_SRTP_AES256_GCM
      case .aes128GCM: OVT_SRTP_AES128_GCM
      case .aes128CounterSHA1: OVT_SRTP_AES128_CM_SHA1_80
      }
    }
  }

  /// The size of a key of AES-256-GCM and its salt in bytes.
  static let keySize = Profile.aes256GCM.keySize + Profile.aes256GCM.saltSize
  /// An upper limit of the number of bytes by which a packet grows, for the authentication tag and
  /// the index of SRTCP.
  static let maxGrowth = 64
  /// The longest packet in bytes.
  private static let capacity = 65_536
  /// Whether libsrtp has been initialized.
  private static let isReady = srtp_init() == srtp_err_status_ok

  /// The libsrtp session for sent packets.
  private var outbound: srtp_t?
  /// The libsrtp session for received packets.
  private var inbound: srtp_t?
  /// Memory for one packet. libsrtp changes packets in place: it needs aligned memory, with room
  /// for what it appends.
  private let scratch = UnsafeMutableRawPointer.allocate(byteCount: capacity + maxGrowth, alignment: 16)

  /// Creates the protection of one end of a session. libsrtp copies the keys, and overwrites its
  /// copies when its sessions are deallocated.
  /// - Parameters:
  ///   - outbound: The key for sent packets, and after it its salt.
  ///   - inbound: The key for received packets, and after it its salt.
  ///   - profile: The cipher, which gives the sizes of both.
  ///   - repeats: Whether a packet that was sent may be protected again. It must not have changed:
  ///     the same part of the key stream would hide two different packets.
  /// - Throws: `PresharedKey.Failure.unavailable`.
  package init(
    outbound: KeyBytes, inbound: KeyBytes, profile: Profile = .aes256GCM, repeats: Bool = false
  ) throws {
    let size = profile.keySize + profile.saltSize
    guard Self.isReady, outbound.count == size, inbound.count == size else {
      throw PresharedKey.Failure.unavailable
    }
    let mayRepeat: Int32 = repeats ? 1 : 0
    guard
      outbound.withBytes({ ovt_srtp_create(&self.outbound, 0, $0, profile.code, mayRepeat) }) == 0,
      inbound.withBytes({ ovt_srtp_create(&self.inbound, 1, $0, profile.code, 0) }) == 0
    else {
      throw PresharedKey.Failure.unavailable
    }
  }

  deinit {
    if let outbound { _ = srtp_dealloc(outbound) }
    if let inbound { _ = srtp_dealloc(inbound) }
    scratch.deallocate()
  }

  package func protect(_ packet: [UInt8], isControl: Bool) -> [UInt8]? {
    inPlace(packet, least: isControl ? 8 : 12) {
      isControl ? srtp_protect_rtcp(outbound, $0, &$1) : srtp_protect(outbound, $0, &$1)
    }
  }

  package func unprotect(_ packet: [UInt8], isControl: Bool) -> [UInt8]? {
    inPlace(packet, least: isControl ? 8 : 12) {
      isControl ? srtp_unprotect_rtcp(inbound, $0, &$1) : srtp_unprotect(inbound, $0, &$1)
    }
  }

  /// Calls a function of libsrtp with a copy of a packet that has at least its fixed header.
  /// - Returns: The packet that the function has made of it; nil if the function fails.
  private func inPlace(
    _ packet: [UInt8], least: Int, _ work: (UnsafeMutableRawPointer, inout Int32) -> srtp_err_status_t
  ) -> [UInt8]? {
    // The library reads the fixed headers without checking the length first.
    guard packet.count >= least, packet.count <= Self.capacity else { return nil }
    packet.withUnsafeBytes {
      scratch.copyMemory(from: $0.baseAddress ?? UnsafeRawPointer(scratch), byteCount: $0.count)
    }
    var length = Int32(packet.count)
    guard work(scratch, &length) == srtp_err_status_ok, length > 0 else { return nil }
    return Array(UnsafeRawBufferPointer(start: scratch, count: Int(length)))
  }
}
