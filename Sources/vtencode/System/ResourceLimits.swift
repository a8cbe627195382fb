// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CSandbox
import Foundation

/// Checks before a run begins whether the resource limits of the process (`ulimit`) suffice.
///
/// Swift's runtime and libdispatch end the process, or block forever, if they get no memory,
/// descriptor or thread, so it has to be checked beforehand. If a limit that these checks did not
/// foresee is reached, the process still ends with a message and removes its temporary files.
enum ResourceLimits {
  /// The largest resources that a run takes in addition to those that the process has at its start.
  struct Needs: Sendable {
    var files = 24
    /// Threads other than the codecs', whose number depends on the processors.
    var threads = 12
    /// Bytes of memory other than stacks and pictures.
    var bytes = 192 << 20
    /// Whether the run starts other processes.
    var startsProcesses = false
  }

  /// The number of descriptors for each track that is read besides the pictures.
  private static let filesOfTrack = 2
  /// The number of descriptors that a window takes: the connection to the display server, the audio
  /// device, fonts and drivers.
  static let filesOfWindow = 64
  /// The number of descriptors for each movie after the first that is joined: the file, a copy of a
  /// pipe, and what looks into it before the run.
  static let filesOfJoinedMovie = 4
  private static let unlimited = rlim_t.max

  /// Checks the limits for a subcommand. To be called before the process has other threads, and
  /// inside the sandbox.
  /// - Throws: a `Failure` that says which limit to raise.
  static func prepare(for command: any ParsableCommand) throws {
    guard let needs = (command as? any ResourceUser)?.resourceNeeds else { return }
    if ovt_keep_reserve() == ENFILE {
      throw Failure("this system has reached its limit of open files (fs.file-max); end some of its programs")
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

  /// Checks the limit of open files. It opens no descriptor itself, because running threads may
  /// need the last one.
  /// - Parameter count: how many more files will be open at the same time.
  /// - Throws: a `Failure` if the limit is too low.
  static func checkFiles(_ count: Int) throws {
    let free = Int(ovt_free_descriptors(Int32(clamping: count)))
    guard free < count else { return }
    let limit = limit(RLIMIT_NOFILE)
    throw Failure(
      "the limit of open files, \(limit), is too low: this needs \(count) in addition to those that are "
        + "open, and \(free) are available; raise it (ulimit -n "
        + "\(Int(clamping: limit).addingClamped(count - free)))")
  }

  /// Checks the limit of open files when the input is known.
  /// - Parameter tracks: the number of tracks that are read at the same time.
  static func check(tracks: Int) throws { try checkFiles(8 + filesOfTrack.multipliedClamped(by: tracks)) }

  /// Checks the limit of memory for the pictures of a run.
  /// - Parameters:
  ///   - decoded: the size of the decoded pictures.
  ///   - encoded: the size of the encoded pictures; nil if none are encoded.
  ///   - isDeep: whether samples have more than 8 bits.
  ///   - hasFullChroma: whether pictures are 4:4:4.
  ///   - times: how many such runs take place at the same time.
  /// - Throws: a `Failure` if the limit is too low.
  static func check(
    decoded: (width: Int, height: Int), encoded: (width: Int, height: Int)?, isDeep: Bool,
    hasFullChroma: Bool = false, times: Int = 1
  ) throws {
    guard isLimited else { return }
    func bytes(_ size: (width: Int, height: Int)) -> Double {
      Double(size.width) * Double(size.height) * (isDeep ? 2 : 1)
        * (hasFullChroma ? 3 : 1.5)
    }
    let all =
      bytes(decoded) * Double(decodedPictures) + (encoded.map { bytes($0) * Double(encodedPictures) } ?? 0)
    try checkMemory(Int(clamping: all * Double(times)))
  }

  /// An upper bound for the decoded pictures that are held by the decoder and its threads, read
  /// ahead, or in queues.
  private static let decodedPictures = 40
  /// An upper bound for the memory of an encoder, in pictures: look-ahead, references and
  /// statistics.
  private static let encodedPictures = 120

  private static func checkMemory(_ bytes: Int) throws {
    guard isLimited, ovt_try_memory(bytes) == 0 else { return }
    let (space, data) = (limit(RLIMIT_AS), limit(RLIMIT_DATA))
    guard space != unlimited || data != unlimited else { return }
    let (name, option, limit) =
      space != unlimited ? ("address space", "-v", space) : ("memory", "-d", data)
    let needed = used(isData: space == unlimited).addingClamped(bytes)
    throw Failure(
      "the limit of \(name), \(TextFormat.bytes(Int(clamping: limit))), is too low: this needs about "
        + "\(TextFormat.bytes(needed)); raise it (ulimit \(option) \(needed / 1024 + 1))")
  }

  /// The error for a thread that could not be started, by its error number.
  static func noThread(_ code: Int32) -> Failure {
    let limit = ovt_limit_of_processes()
    return Failure(
      limit == .max
        ? "the system provides no more threads (\(String(cString: strerror(code)).lowercased()))"
        : "the limit of processes and threads, \(limit) for all of this user, is too low; raise it (ulimit -u), or end "
          + "some of them")
  }

  /// Whether a limit is set that a run may well reach. Only then are the handlers for a lack of
  /// resources installed.
  private static var isLimited: Bool {
    limit(RLIMIT_AS) != unlimited || limit(RLIMIT_DATA) != unlimited || limit(RLIMIT_NOFILE) < 128
  }

  private static func limit(_ kind: __rlimit_resource) -> rlim_t {
    var limits = rlimit()
    return getrlimit(__rlimit_resource_t(kind.rawValue), &limits) == 0 ? limits.rlim_cur : unlimited
  }

  /// The address space of the stack of a thread that a library starts, in bytes.
  private static var stackSize: Int {
    let limit = limit(RLIMIT_STACK)
    // The C library's default where the limit is infinite.
    return limit == unlimited ? 2 << 20 : Int(clamping: limit)
  }

  /// The bytes that the process uses: its data segment, or its whole address space.
  private static func used(isData: Bool) -> Int {
    let fields =
      (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8))?.split(separator: " ") ?? []
    let field = isData ? 5 : 0
    return fields.indices.contains(field) ? (Int(fields[field]) ?? 0) * Int(getpagesize()) : 0
  }
}

/// A subcommand that states the resources it needs.
protocol ResourceUser { var resourceNeeds: ResourceLimits.Needs { get } }

extension Streaming: ResourceUser { var resourceNeeds: ResourceLimits.Needs { .init() } }
extension Conferencing: ResourceUser { var resourceNeeds: ResourceLimits.Needs { .init() } }
extension Split: ResourceUser { var resourceNeeds: ResourceLimits.Needs { .init(files: 40) } }
extension EncodeSegment: ResourceUser { var resourceNeeds: ResourceLimits.Needs { .init(files: 32) } }
extension Join: ResourceUser { var resourceNeeds: ResourceLimits.Needs { .init() } }
extension Export: ResourceUser { var resourceNeeds: ResourceLimits.Needs { .init(files: 32) } }
extension Thumbnails: ResourceUser { var resourceNeeds: ResourceLimits.Needs { .init() } }
extension Call: ResourceUser { var resourceNeeds: ResourceLimits.Needs { .init(files: 32) } }

extension Play: ResourceUser {
  var resourceNeeds: ResourceLimits.Needs {
    .init(files: 32 + (showsWindow ? ResourceLimits.filesOfWindow : 0))
  }
}

extension Transcoding: ResourceUser {
  var resourceNeeds: ResourceLimits.Needs {
    guard let jobs = jobOptions.jobs else {
      let joined = several.join ? several.further.count : 0
      return .init(
        files: (passOptions.multiPass == nil ? 24 : 32)
          .addingClamped(joined.multipliedClamped(by: ResourceLimits.filesOfJoinedMovie)))
    }
    // Pipes to each process, and the descriptors with which Foundation watches it.
    return .init(files: 40 + 10 * jobs, threads: 12 + 2 * min(jobs, 64), startsProcesses: true)
  }
}
