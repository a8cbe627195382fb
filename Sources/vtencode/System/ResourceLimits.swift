// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CSandbox
import Foundation

/// Whether the limits that the process runs under (`ulimit`) leave a run what it takes, asked before it begins.
///
/// Swift's runtime and libdispatch end the process, or wait for ever, where they get no memory, no descriptor or no thread, and
/// so it is too late to ask then. What these checks do not foresee ends with a sentence too, and nothing is left behind.
enum ResourceLimits {
  /// What a run takes at most, beyond what the process has when it begins.
  struct Needs: Sendable {
    var files = 24
    /// But for those that code, which come with the processors.
    var threads = 12
    /// Beside stacks and pictures.
    var bytes = 192 << 20
    /// It starts processes.
    var startsProcesses = false
  }

  /// Descriptors for a track that is read beside the pictures.
  private static let filesOfTrack = 2
  /// What a window takes: the screen's connection, the sound device, fonts and drivers.
  fileprivate static let filesOfWindow = 64
  private static let unlimited = rlim_t.max

  /// To be called before the process has threads, and inside the sandbox.
  static func prepare(for command: any ParsableCommand) throws {
    guard let needs = (command as? any ResourceUser)?.resourceNeeds else { return }
    if ovt_keep_reserve() == ENFILE {
      throw Failure("this system has as many files open as it may (fs.file-max); end some of its programs")
    }
    if isLimited {
      ovt_save_address_space()
      ovt_end_well_without(
        "vtencode: the limit of memory or address space is too low; raise it (ulimit -v, ulimit -d)\n",
        "vtencode: the limit of open files is too low; raise it (ulimit -n)\n")
    }
    try checkFiles(needs.files)
    if needs.startsProcesses { ovt_close_above_limit() }
    let threads = needs.threads + 2 * min(ProcessInfo.processInfo.activeProcessorCount, 32)
    try checkMemory(needs.bytes.addingClamped(threads.multipliedClamped(by: stackSize)))
    var code: Int32 = 0
    guard ovt_try_threads(Int32(threads), &code) == Int32(threads) else { throw noThread(code) }
  }

  /// Takes no descriptor itself: threads that run already are not to miss one.
  /// - Parameter count: how many more are opened at once.
  static func checkFiles(_ count: Int) throws {
    let free = Int(ovt_free_descriptors(Int32(clamping: count)))
    guard free < count else { return }
    let limit = limit(RLIMIT_NOFILE)
    throw Failure(
      "the limit of open files, \(limit), is too low: this takes \(count) beside those that are open, and \(free) can be "
        + "had; raise it (ulimit -n \(Int(clamping: limit).addingClamped(count - free)))")
  }

  /// Asked when it is known what is read.
  /// - Parameter tracks: those that are read at the same time, of all that a movie may have.
  static func check(tracks: Int) throws { try checkFiles(8 + filesOfTrack.multipliedClamped(by: tracks)) }

  /// Memory for pictures.
  /// - Parameters:
  ///   - decoded: the size of what is decoded.
  ///   - encoded: that of what is encoded, if anything is.
  ///   - isDeep: more than 8 bits a sample.
  ///   - times: how often at once.
  static func check(
    decoded: (width: Int, height: Int), encoded: (width: Int, height: Int)?, isDeep: Bool, times: Int = 1
  ) throws {
    guard isLimited else { return }
    func bytes(_ size: (width: Int, height: Int)) -> Double {
      Double(size.width) * Double(size.height) * (isDeep ? 3 : 1.5)
    }
    let all =
      bytes(decoded) * Double(decodedPictures) + (encoded.map { bytes($0) * Double(encodedPictures) } ?? 0)
    try checkMemory(Int(clamping: all * Double(times)))
  }

  /// Of a decoder and its threads, those read ahead, and those on their way.
  private static let decodedPictures = 40
  /// Of an encoder's look-ahead, references, and statistics about as large.
  private static let encodedPictures = 120

  private static func checkMemory(_ bytes: Int) throws {
    guard isLimited, ovt_try_memory(bytes) == 0 else { return }
    let (space, data) = (limit(RLIMIT_AS), limit(RLIMIT_DATA))
    guard space != unlimited || data != unlimited else { return }
    let (name, option, limit) =
      space != unlimited ? ("address space", "-v", space) : ("memory", "-d", data)
    let needed = used(isData: space == unlimited).addingClamped(bytes)
    throw Failure(
      "the limit of \(name), \(Wording.bytes(Int(clamping: limit))), is too low: this takes about "
        + "\(Wording.bytes(needed)); raise it (ulimit \(option) \(needed / 1024 + 1))")
  }

  /// Why there is no thread.
  static func noThread(_ code: Int32) -> Failure {
    let limit = ovt_limit_of_processes()
    return Failure(
      limit == .max
        ? "the system gives no more threads (\(String(cString: strerror(code)).lowercased()))"
        : "the limit of processes and threads, \(limit) for all of this user, is too low; raise it (ulimit -u), or end "
          + "some of them")
  }

  /// What may end the process is watched for where it is likely.
  private static var isLimited: Bool {
    limit(RLIMIT_AS) != unlimited || limit(RLIMIT_DATA) != unlimited || limit(RLIMIT_NOFILE) < 128
  }

  private static func limit(_ kind: __rlimit_resource) -> rlim_t {
    var limits = rlimit()
    return getrlimit(__rlimit_resource_t(kind.rawValue), &limits) == 0 ? limits.rlim_cur : unlimited
  }

  /// Of a thread that a library starts, in addresses.
  private static var stackSize: Int {
    let limit = limit(RLIMIT_STACK)
    // What the C library takes where there is no limit.
    return limit == unlimited ? 2 << 20 : Int(clamping: limit)
  }

  /// Bytes that the process has.
  private static func used(isData: Bool) -> Int {
    let fields =
      (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8))?.split(separator: " ") ?? []
    let field = isData ? 5 : 0
    return fields.indices.contains(field) ? (Int(fields[field]) ?? 0) * Int(getpagesize()) : 0
  }
}

/// A subcommand that says what it takes.
protocol ResourceUser { var resourceNeeds: ResourceLimits.Needs { get } }

extension Streaming: ResourceUser { var resourceNeeds: ResourceLimits.Needs { .init() } }
extension Conferencing: ResourceUser { var resourceNeeds: ResourceLimits.Needs { .init() } }
extension Split: ResourceUser { var resourceNeeds: ResourceLimits.Needs { .init(files: 40) } }
extension EncodeSegment: ResourceUser { var resourceNeeds: ResourceLimits.Needs { .init(files: 32) } }
extension Join: ResourceUser { var resourceNeeds: ResourceLimits.Needs { .init() } }
extension Export: ResourceUser { var resourceNeeds: ResourceLimits.Needs { .init(files: 32) } }
extension Call: ResourceUser { var resourceNeeds: ResourceLimits.Needs { .init(files: 32) } }

extension Play: ResourceUser {
  var resourceNeeds: ResourceLimits.Needs {
    .init(files: 32 + (showsWindow ? ResourceLimits.filesOfWindow : 0))
  }
}

extension Send: ResourceUser {
  var resourceNeeds: ResourceLimits.Needs {
    .init(files: options.web.web == nil ? 32 : 64 + WebServer.mostConnections)
  }
}

extension Receive: ResourceUser {
  var resourceNeeds: ResourceLimits.Needs {
    .init(
      files: 32 + (options.web.web == nil ? 0 : WebServer.mostConnections)
        + (options.play ? ResourceLimits.filesOfWindow : 0))
  }
}

extension Transcoding: ResourceUser {
  var resourceNeeds: ResourceLimits.Needs {
    guard let jobs = jobOptions.jobs else {
      return .init(files: passOptions.multiPass == nil ? 24 : 32)
    }
    // Pipes to each process, and what Foundation watches it with.
    return .init(files: 40 + 10 * jobs, threads: 12 + 2 * min(jobs, 64), startsProcesses: true)
  }
}
