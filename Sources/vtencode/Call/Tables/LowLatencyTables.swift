import ArgumentParser
import Foundation
import VideoToolbox

/// What the low-latency mode is measured by: the tables of the documentation, in Markdown.
struct LowLatencyTables: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "lowlat-tables", abstract: "Measures the low-latency mode and prints tables.",
    shouldDisplay: false)

  enum Table: String, CaseIterable, ExpressibleByArgument {
    case latency, layers, subsets, caps, readable, repairs, loss, steps
  }

  @Argument(help: "Movies to measure with.")
  var movies: [String]

  @Option(help: "Only these tables.")
  var only: [Table] = []

  @Option(help: ArgumentHelp("Most frames of a movie to keep in memory.", valueName: "n"))
  var frames: Int = 300

  @Option(help: ArgumentHelp("Random subsets of enhancement frames, over all movies.", valueName: "n"))
  var subsets: Int = 1000

  @Option(help: ArgumentHelp("Seeds of the lossy calls to average over.", valueName: "n"))
  var seeds: Int = 3

  func run() async throws {
    Interrupt.shared.watch()
    let wanted = only.isEmpty ? Table.allCases : only
    var sources: [MovieSource] = []
    for movie in movies { sources.append(try await MovieSource.open(movie, streamFrameRate: nil)) }
    let (opened, limit, subsets, seeds) = (sources, frames, subsets, seeds)
    try await onThread("tables") {
      for table in wanted {
        let text: String
        switch table {
        case .latency: text = try LatencyTable.markdown(opened, limit: limit)
        case .layers: text = try LayerTable.markdown(opened, limit: limit)
        case .subsets: text = try SubsetTable.markdown(opened, count: subsets)
        case .caps: text = try CapTable.markdown(opened, limit: limit)
        case .readable: text = try ReadableTable.markdown(opened, limit: limit)
        case .repairs: text = try RepairTable.markdown(opened, limit: limit)
        case .loss: text = try LossTable.markdown(opened, limit: limit, seeds: seeds)
        case .steps: text = try StepTable.markdown(opened, limit: limit)
        }
        Console.write(text + "\n", to: STDOUT_FILENO)
      }
    }
  }
}

/// Pictures of a movie, and what to ask of an encoder for them.
struct TableClip {
  let name: String
  let width: Int
  let height: Int
  let pictures: LoopedPictures
  /// Bits a second that make a fair picture at this size and frame rate.
  let rate: Int

  /// - Parameter height: to scale to, if the movie is larger.
  init(_ source: MovieSource, limit: Int, height: Int? = nil) throws {
    name = URL(fileURLWithPath: source.name).deletingPathExtension().lastPathComponent
    var (wide, high) = (source.width & ~1, source.height & ~1)
    if let height, height < high {
      wide = wide * height / high & ~1
      high = height & ~1
    }
    width = wide
    self.height = high
    pictures = try LoopedPictures(source, width: wide, height: high, limit: limit)
    let area = Double(wide * high) / (1280 * 720)
    let exact = 1_500_000 * pow(area, 0.75) * pow(pictures.frameRate / 30, 0.7)
    rate = Int((exact / 10_000).rounded()) * 10_000
  }

  var frameRate: Double { pictures.frameRate }

  /// A plan without limits beside the rate.
  func plan(rate: Int) -> CallPlan {
    var plan = CallPlan(
      width: width, height: height, frameRate: frameRate,
      link: .init(bandwidth: .init(constant: Double(rate) * 4)))
    plan.bitRate = rate
    plan.window = nil
    plan.recovery = .keyframe
    return plan
  }

  /// Encodes so many pictures; a dropped one is nil.
  func encode(_ plan: CallPlan, count: Int) throws -> [CallEncoder.Output?] {
    let encoder = try CallEncoder(plan)
    var source = pictures
    return try (0..<count).map { _ in
      guard let picture = source.next() else { return nil }
      return try encoder.encode(picture, options: [:])
    }
  }
}

/// A table in Markdown.
struct MarkdownTable {
  private var lines: [String]

  init(_ title: String, _ columns: [String]) {
    lines = [
      "### \(title)", "", "| " + columns.joined(separator: " | ") + " |",
      "| --- " + columns.dropFirst().map { _ in "| ---: " }.joined() + "|",
    ]
  }

  mutating func add(_ cells: [String]) { lines.append("| " + cells.joined(separator: " | ") + " |") }

  var text: String { lines.joined(separator: "\n") + "\n" }
}

extension Wording {
  static func percent(_ share: Double, _ places: Int = 1) -> String { fixed(share * 100, places) + " %" }
  static func kilobits(_ bits: Int) -> String { "\(bits / 1000)k" }
  static func milliseconds(_ seconds: Double?, _ places: Int = 0) -> String {
    seconds.map { fixed($0 * 1000, places) } ?? "-"
  }
}
