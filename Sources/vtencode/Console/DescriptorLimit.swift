// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A subcommand that has many files and sockets open at once. Libraries that it uses end the process where the system gives
/// them none, so it is made sure beforehand that there are enough.
protocol DescriptorUser {
  /// File descriptors that it needs, beyond those that are open when the program begins.
  var descriptorsNeeded: Int { get }
}

/// How many file descriptors this process may have.
enum DescriptorLimit {
  /// What a run of one end has open at once at most, with some to spare: movies, sockets, and what event loops and signals take.
  static let usual = 32
  /// What a window takes beyond that: the screen's connection, the sound device, fonts and drivers.
  static let ofWindow = 64

  /// Makes sure that so many can be opened. Where the limit is too low and may be raised, it is raised.
  /// - Throws: A `Failure` that names the limit if they cannot.
  static func require(_ count: Int) throws {
    // Those that are open keep their places: no more than a few, as a rule.
    raise(to: rlim_t(count + 64))
    var taken: [Int32] = []
    defer { for descriptor in taken { close(descriptor) } }
    for _ in 0..<count {
      let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
      guard descriptor >= 0 else {
        throw failure(errno, needed: count, free: taken.count)
      }
      taken.append(descriptor)
    }
  }

  private static func raise(to count: rlim_t) {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0, limit.rlim_cur < count else {
      return
    }
    limit.rlim_cur = min(limit.rlim_max, count)
    setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
  }

  private static func failure(_ code: Int32, needed: Int, free: Int) -> Failure {
    switch code {
    case EMFILE:
      var limit = rlimit()
      getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
      let used = Int(clamping: limit.rlim_cur) - free
      return Failure(
        "this process may have no more than \(limit.rlim_cur) files open (ulimit -n), and needs \(used + needed); "
          + "raise the limit with ulimit -n \(used + needed)")
    case ENFILE:
      return Failure("this system has as many files open as it may (fs.file-max); end some of its programs")
    default: return Failure("the system gives no socket: \(String(cString: strerror(code)).lowercased())")
    }
  }
}
