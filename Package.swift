// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0
import PackageDescription

// On Apple's platforms the real frameworks exist and must not be shadowed. So every product exists
// everywhere, but reaches a module of Apple's name only where the platform that is built for,
// whatever the host, lacks it: a client may name products with `condition: .when(platforms:
// [.linux])` or without, and its `import VideoToolbox` finds the right one. scripts/check-manifest
// proves it, and pretends for that that this platform has its own.
let lackingPlatforms: [Platform] = Context.environment["OVT_PRETEND_APPLE"] == "1" ? [.windows] : [.linux]

// To build and test the engine on any system: `OVT_ENGINE_ALONE=1 swift test`.
let isEngineAlone = Context.environment["OVT_ENGINE_ALONE"] == "1"
// The same with the modules that read bytes from outside and their tests: what sanitizers look at
// in a short build.
let areParsersAlone = Context.environment["OVT_PARSERS_ALONE"] == "1"

// Without the subcommands of `vtencode` that use the network, and so without SwiftNIO, which is a
// fifth of a build, and without the tests: what `make demo` fetches and builds.
let isLive = Context.environment["OVT_WITHOUT_LIVE"] != "1"
let liveFiles = [
  "HTTPLive/SegmentCipher.swift", "Live/LiveAccess.swift", "Live/LiveCommands.swift", "Peer", "Receive",
  "Send/Send.swift", "Send/SendOptions.swift",
  "Send/SendRun.swift", "Send/SendSource.swift", "Serve", "Audio", "Web", "Wire/DatagramOutbox.swift",
  "Wire/UDPSender.swift", "Wire/DatagramSocket.swift", "Wire/Endpoint.swift", "Wire/WireOptions.swift",
]
let liveDependencies: [Target.Dependency] =
  ["RealTimeSecurity", "WebRTC"]
  + ["NIOCore", "NIOHTTP1", "NIOPosix", "NIOWebSocket"].map { .product(name: $0, package: "swift-nio") }

// MARK: - The engine: stands alone, builds anywhere; its tests decode with FFmpeg's libraries

var products: [Product] = [
  .library(name: "H264Encoder", targets: ["H264Encoder"]),
  .library(name: "HEVCEncoder", targets: ["HEVCEncoder"]),
]

var targets: [Target] = [
  // The kernels that encoders of several codecs share. Its folder `shared` has what their own
  // kernels include.
  .target(
    name: "CVideoKernels",
    cSettings: [.define("NDEBUG", .when(configuration: .release)), .headerSearchPath("shared")]
  ),
  .testTarget(name: "CVideoKernelsTests", dependencies: ["CVideoKernels", "KernelTestSupport"]),
  .target(
    name: "CH264Kernels", dependencies: ["CVideoKernels"],
    cSettings: [
      .define("NDEBUG", .when(configuration: .release)), .headerSearchPath("../CVideoKernels/shared"),
    ]
  ),
  .target(
    name: "CHEVCKernels", dependencies: ["CVideoKernels"],
    cSettings: [
      .define("NDEBUG", .when(configuration: .release)), .headerSearchPath("../CVideoKernels/shared"),
    ]
  ),
  .target(name: "VideoBitstream"),
  .testTarget(name: "VideoBitstreamTests", dependencies: ["VideoBitstream"]),
  .target(name: "VideoEncoding", dependencies: ["CVideoKernels", "VideoBitstream"]),
  .testTarget(
    name: "VideoEncodingTests", dependencies: ["VideoEncoding", "CVideoKernels", "KernelTestSupport"]),
  .target(
    name: "H264Encoder", dependencies: ["CH264Kernels", "CVideoKernels", "VideoBitstream", "VideoEncoding"]),
  .target(
    name: "HEVCEncoder", dependencies: ["CHEVCKernels", "CVideoKernels", "VideoBitstream", "VideoEncoding"]),
  // Runs tools whose opinion is asked.
  .target(name: "ToolSupport", path: "Tests/ToolSupport"),
  // Samples, paths and models for the tests of kernels.
  .target(
    name: "KernelTestSupport", dependencies: ["CVideoKernels"], path: "Tests/KernelTestSupport"),
  .testTarget(name: "CH264KernelsTests", dependencies: ["CH264Kernels", "KernelTestSupport"]),
  .testTarget(name: "CHEVCKernelsTests", dependencies: ["CHEVCKernels", "KernelTestSupport"]),
  .systemLibrary(
    name: "CFFmpeg", path: "Sources/System/CFFmpeg", pkgConfig: "libavformat",
    providers: [
      .apt([
        "libavformat-dev", "libavcodec-dev", "libavfilter-dev", "libavutil-dev", "libswresample-dev",
        "libswscale-dev",
      ])
    ]),
  .target(
    name: "H264ReferenceDecoders", dependencies: ["CFFmpeg"], path: "Tests/H264ReferenceDecoders",
    // Where no Swift imports CFFmpeg, nothing else names them to the linker.
    linkerSettings: [.linkedLibrary("avcodec"), .linkedLibrary("avutil")]),
  .target(
    name: "HEVCReferenceDecoders", dependencies: ["CFFmpeg"], path: "Tests/HEVCReferenceDecoders",
    linkerSettings: [.linkedLibrary("avcodec"), .linkedLibrary("avutil")]),
  .testTarget(
    name: "HEVCEncoderTests",
    dependencies: [
      "HEVCEncoder", "H264Encoder", "VideoEncoding", "VideoBitstream", "CVideoKernels",
      "HEVCReferenceDecoders", "ToolSupport",
    ]),
  .testTarget(
    name: "H264EncoderTests",
    dependencies: [
      "H264Encoder", "VideoEncoding", "VideoBitstream", "CH264Kernels", "CVideoKernels",
      "H264ReferenceDecoders", "ToolSupport",
    ]),
]

// Small programs that measure the encoders (docs/h264-encoder.md, docs/hevc-encoder.md).
if isEngineAlone {
  targets += [
    .executableTarget(name: "H264Bench", dependencies: ["H264Encoder"], path: "Tests/H264Bench"),
    .executableTarget(name: "HEVCBench", dependencies: ["HEVCEncoder"], path: "Tests/HEVCBench"),
  ]
}

// MARK: - Apple's modules, and what they stand on

if !isEngineAlone {
  // A product is a target of its own, that depends on its modules where the platform lacks them.
  let modules = [
    "CoreFoundation", "CoreVideo", "CoreMedia", "VideoToolbox", "AVFoundation", "UniformTypeIdentifiers",
    "AVFAudio", "AVKit", "AudioToolbox", "CoreAudio", "CoreAudioTypes", "CoreGraphics", "CoreServices",
    "ImageIO",
    "MediaToolbox", "MobileCoreServices", "OSLog",
  ]
  // In addition to the umbrella: what is not of Apple's names.
  let others = ["CodecInterface", "ElementaryStream", "OpenVideoToolboxDisplay"]
  let offered =
    [("OpenVideoToolbox", modules), ("os", ["OpenVideoToolboxOS"])] + (modules + others).map { ($0, [$0]) }
  for (product, modules) in offered {
    let target = product == "OpenVideoToolbox" ? product : "\(product)Product"
    products.append(.library(name: product, targets: [target]))
    targets.append(
      .target(
        name: target,
        dependencies: modules.map { .target(name: $0, condition: .when(platforms: lackingPlatforms)) },
        path: "Sources/Products/\(product)"))
  }
  products.append(.executable(name: "vtencode", targets: ["vtencode"]))

  // For the fuzzers, which are a package of their own.
  if Context.environment["OVT_FUZZING"] == "1" {
    products.append(.library(name: "RealTimeTransport", targets: ["RealTimeTransport"]))
    products.append(.library(name: "WebRTC", targets: ["WebRTC"]))
    products.append(.library(name: "HEVCReferenceDecoders", targets: ["HEVCReferenceDecoders"]))
  }

  targets += [
    // Its module map links it. The flags that pkg-config knows are for Visual Studio, and SwiftPM
    // warns in every client's build that it does not pass them on.
    .systemLibrary(
      name: "CX264", path: "Sources/System/CX264", providers: [.apt(["libx264-dev"])]),
    .systemLibrary(
      name: "CX265", path: "Sources/System/CX265", pkgConfig: "x265",
      providers: [.apt(["libx265-dev"])]),

  ]

  // Names such as `AVFoundation.AVAsset` for imports of a part of a module (docs/architecture.md).
  let withParts = [
    "CoreVideo", "CoreMedia", "VideoToolbox", "AVFoundation", "UniformTypeIdentifiers", "CoreGraphics",
    "ImageIO",
  ]
  targets += withParts.map { .systemLibrary(name: "\($0)Parts", path: "Sources/System/Submodules/\($0)") }

  targets += [
    .target(name: "CCoreFoundation"),
    .target(name: "CoreFoundation", dependencies: ["CCoreFoundation"]),
    .target(name: "CoreVideo", dependencies: ["CoreFoundation", "VideoBitstream", "CoreVideoParts"]),
    .target(name: "CoreMedia", dependencies: ["CoreVideo", "VideoBitstream", "CoreMediaParts"]),
    .target(name: "ElementaryStream", dependencies: ["CoreMedia", "VideoBitstream"]),
    .target(name: "CodecInterface", dependencies: ["CoreMedia", "VideoBitstream"]),
    .testTarget(name: "CodecInterfaceTests", dependencies: ["CodecInterface"]),
    .target(
      name: "EncoderAdapterSupport", dependencies: ["CodecInterface"], path: "Tests/EncoderAdapterSupport"),
    .testTarget(
      name: "X264CodecTests", dependencies: ["X264Codec", "CodecInterface", "EncoderAdapterSupport"]),
    .testTarget(
      name: "X265CodecTests", dependencies: ["X265Codec", "CodecInterface", "EncoderAdapterSupport"]),
    .target(
      name: "X264Codec",
      dependencies: [
        "CodecInterface", "VideoBitstream",
        .target(name: "CX264", condition: .when(traits: ["X264"])),
      ]),
    .target(
      name: "X265Codec",
      dependencies: [
        "CodecInterface", "VideoBitstream",
        .target(name: "CX265", condition: .when(traits: ["X265"])),
      ]),
    // The code that the adapters of the package's own encoders share.
    .target(name: "EncoderAdapter", dependencies: ["CodecInterface", "VideoBitstream", "VideoEncoding"]),
    .target(name: "H264Codec", dependencies: ["CodecInterface", "EncoderAdapter", "H264Encoder"]),
    .target(name: "HEVCCodec", dependencies: ["CodecInterface", "EncoderAdapter", "HEVCEncoder"]),
    .testTarget(
      name: "HEVCCodecTests",
      dependencies: [
        "HEVCCodec", "HEVCEncoder", "CodecInterface", "EncoderAdapter", "HEVCReferenceDecoders",
      ]),
    .testTarget(
      name: "H264CodecTests",
      dependencies: [
        "H264Codec", "H264Encoder", "CodecInterface", "EncoderAdapter", "H264ReferenceDecoders",
      ]),
    // For frames that wait on disk between the passes of an encoding.
    .systemLibrary(
      name: "CSQLite", path: "Sources/System/CSQLite", pkgConfig: "sqlite3",
      providers: [.apt(["libsqlite3-dev"])]),
    .target(name: "FFmpegMedia", dependencies: ["CodecInterface", "CoreMedia", "VideoBitstream", "CFFmpeg"]),
    .testTarget(
      name: "FFmpegMediaTests",
      dependencies: ["FFmpegMedia", "CodecInterface", "CFFmpeg", "TestSupport"]),
    .target(
      name: "VideoToolbox",
      dependencies: [
        "CoreMedia", "CodecInterface", "CSQLite", "H264Codec",
        .target(name: "HEVCCodec", condition: .when(traits: ["HEVC"])), "FFmpegMedia", "VideoBitstream",
        "VideoEncoding", "X264Codec", "X265Codec", "VideoToolboxParts",
      ]),
    .target(name: "UniformTypeIdentifiers", dependencies: ["UniformTypeIdentifiersParts"]),
    .target(name: "OSLog", dependencies: [.product(name: "Logging", package: "swift-log")]),
    // Not named `os`: packages that are built together with it ask `canImport(os)` without
    // depending on it, and would see it or not by the order of the build (docs/compatibility.md
    // tells how `import os` finds it).
    .target(name: "OpenVideoToolboxOS", dependencies: ["OSLog"], path: "Sources/os"),
    .target(name: "_Testing_CoreGraphics"),
    .target(name: "CoreGraphics", dependencies: ["CoreVideo", "_Testing_CoreGraphics", "CoreGraphicsParts"]),
    .target(
      name: "ImageIO",
      dependencies: [
        "CoreGraphics", "CodecInterface", "CoreMedia", "EncoderAdapter", "FFmpegMedia", "CFFmpeg",
        "VideoBitstream",
        .target(name: "HEVCEncoder", condition: .when(traits: ["HEVC"])), "ImageIOParts",
      ]),
    .testTarget(name: "ImageIOTests", dependencies: ["ImageIO", "CoreGraphics", "ToolSupport"]),
    .testTarget(
      name: "OSLogTests", dependencies: ["OSLog", .product(name: "Logging", package: "swift-log")]),
    // Core Audio's types beyond those of Core Media, and modules that programs import for them.
    .target(name: "CoreAudioTypes", dependencies: ["CoreMedia"]),
    .target(name: "CoreAudio", dependencies: ["CoreAudioTypes"]),
    .target(name: "AudioToolbox", dependencies: ["CoreAudio"]),
    .target(name: "MediaToolbox", dependencies: ["CoreAudioTypes"]),
    .target(name: "CoreServices", dependencies: ["CoreFoundation", "UniformTypeIdentifiers"]),
    .target(name: "MobileCoreServices", dependencies: ["CoreServices"]),
    .target(name: "AVKit", dependencies: ["AVFoundation"]),
    .target(name: "AVFAudio", dependencies: ["AudioToolbox", "FFmpegMedia"]),
    .testTarget(
      name: "AVFAudioTests",
      dependencies: ["AVFAudio", "CoreAudio", "MobileCoreServices", "ToolSupport"]),
    .target(
      name: "AVFoundation",
      dependencies: [
        "AVFAudio", "VideoToolbox", "FFmpegMedia", "CodecInterface", "MediaToolbox", "UniformTypeIdentifiers",
        "AVFoundationParts",
      ]),
    // Live H.264 and HEVC over datagrams: RTP, RTCP, repair and a network that loses and delays,
    // without a clock of its own.
    .target(name: "RealTimeTransport", dependencies: ["VideoBitstream"]),
    // How tests wait, and generated pictures.
    .target(name: "TestSupport", dependencies: ["CoreMedia"], path: "Tests/TestSupport"),
    .testTarget(name: "RealTimeTransportTests", dependencies: ["RealTimeTransport", "ToolSupport"]),
    // SRTP, and keys for it.
    .systemLibrary(
      name: "CSRTP", path: "Sources/System/CSRTP", pkgConfig: "libsrtp2",
      providers: [.apt(["libsrtp2-dev", "libssl-dev"])]),
    .target(name: "RealTimeSecurity", dependencies: ["CSRTP", "RealTimeTransport"]),
    .testTarget(
      name: "RealTimeSecurityTests", dependencies: ["RealTimeSecurity", "RealTimeTransport", "ToolSupport"]),
    // Browsers and servers that speak WebRTC: STUN, ICE, DTLS, SDP, and media for such peers.
    .target(
      name: "WebRTC", dependencies: ["CSRTP", "RealTimeSecurity", "RealTimeTransport", "VideoBitstream"]),
    .testTarget(
      name: "WebRTCTests", dependencies: ["WebRTC", "RealTimeSecurity", "RealTimeTransport", "CSRTP"]),
    // SDL's headers alone: the library is loaded with the first window (docs/display.md).
    .systemLibrary(name: "CSDL2", path: "Sources/System/CSDL2", providers: [.apt(["libsdl2-dev"])]),
    .target(
      name: "OpenVideoToolboxDisplay",
      dependencies: ["AVFoundation", .target(name: "CSDL2", condition: .when(traits: ["Display"]))]),
    .testTarget(
      name: "OpenVideoToolboxDisplayTests",
      dependencies: ["OpenVideoToolboxDisplay", "AVFoundation", "TestSupport"]),
    // Landlock and seccomp, for `vtencode --sandbox`.
    .target(name: "CSandbox"),
    .executableTarget(
      name: "vtencode",
      dependencies: [
        "AVFoundation", "CSandbox", "CVideoKernels", "CodecInterface", "ElementaryStream", "FFmpegMedia",
        "H264Encoder", "ImageIO", "OpenVideoToolboxDisplay", "RealTimeTransport", "VideoBitstream",
        "VideoToolbox",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ] + (isLive ? liveDependencies : []),
      exclude: isLive
        ? ["HTTPLive/MissingSegmentCipher.swift", "Live/MissingLiveCommands.swift"] : liveFiles),
    .testTarget(
      name: "VideoToolboxTests",
      dependencies: [
        "VideoToolbox", "ElementaryStream", "CodecInterface", "FFmpegMedia", "X264Codec", "X265Codec",
        "CFFmpeg", "TestSupport",
      ]),
    .testTarget(name: "CoreFoundationTests", dependencies: ["CoreFoundation", "TestSupport"]),
    .testTarget(name: "CoreVideoTests", dependencies: ["CoreVideo", "TestSupport"]),
    .testTarget(
      name: "CoreMediaTests",
      dependencies: [
        "CoreMedia", "VideoBitstream", "ToolSupport", "TestSupport",
        .product(name: "BigInt", package: "BigInt"),
      ]),
    .testTarget(
      name: "ElementaryStreamTests", dependencies: ["ElementaryStream", "VideoBitstream", "ToolSupport"]),
    // Runs the built program, as a person would.
    .testTarget(
      name: "vtencodeTests",
      dependencies: [
        "vtencode", "CodecInterface", "ElementaryStream", "RealTimeTransport", "VideoToolbox", "TestSupport",
        "WebRTC",
      ]),
    .testTarget(
      name: "CallTests",
      dependencies: ["vtencode", "RealTimeTransport", "ToolSupport", "VideoToolbox", "TestSupport"]),
    .testTarget(
      name: "AVFoundationTests",
      dependencies: ["AVFoundation", "FFmpegMedia", "CFFmpeg", "VideoBitstream", "TestSupport"]),
  ]
}

// MARK: - The C interface: one library with the functions of C's headers

// Not built with everything else: scripts/build-c-library sets the variable. Its headers have the
// names of Apple's frameworks.
if Context.environment["OVT_C_INTERFACE"] == "1" {
  products.append(
    .library(name: "OpenVideoToolboxC", type: .dynamic, targets: ["COpenVideoToolboxFunctions"]))
  targets += [
    .target(
      name: "COpenVideoToolbox", linkerSettings: [.linkedLibrary("BlocksRuntime"), .linkedLibrary("dl")]),
    .target(
      name: "COpenVideoToolboxFunctions",
      dependencies: ["COpenVideoToolbox", "CoreFoundation", "CoreVideo", "CoreMedia", "VideoToolbox"]),
  ]
}

// The tests of the command line need all of it.
if !isLive { targets.removeAll { $0.type == .test } }

if areParsersAlone {
  let names: Set = [
    "CVideoKernels", "CH264Kernels", "CHEVCKernels", "CHEVCKernelsTests", "H264Encoder", "HEVCEncoder",
    "HEVCEncoderTests", "HEVCReferenceDecoders", "VideoEncoding",
    "VideoBitstream", "CCoreFoundation",
    "CoreFoundation",
    "CoreVideoParts",
    "CoreVideo", "CoreMediaParts", "CoreMedia", "ElementaryStream", "CodecInterface", "CFFmpeg",
    "FFmpegMedia",
    "CSRTP", "RealTimeTransport", "RealTimeSecurity", "H264ReferenceDecoders", "ToolSupport", "TestSupport",
    "KernelTestSupport", "CVideoKernelsTests", "CH264KernelsTests", "VideoEncodingTests", "H264EncoderTests",
    "VideoBitstreamTests",
    "CoreVideoTests", "CoreMediaTests",
    "ElementaryStreamTests", "FFmpegMediaTests", "RealTimeTransportTests", "RealTimeSecurityTests",
    "WebRTC", "WebRTCTests",
  ]
  targets.removeAll { !names.contains($0.name) }
  products.removeAll { $0.name != "H264Encoder" && $0.name != "HEVCEncoder" }
}

// For `make lint` and CI. It is not always on, because a newer compiler may know a new warning.
if Context.environment["OVT_WARNINGS_AS_ERRORS"] == "1" {
  for target in targets where target.type != .system {
    target.swiftSettings = (target.swiftSettings ?? []) + [.treatAllWarnings(as: .error)]
  }
}

let package = Package(
  name: "OpenVideoToolbox",
  platforms: [.macOS(.v15)],
  products: products,
  traits: [
    .default(enabledTraits: ["HEVC"]),
    .trait(name: "HEVC", description: "HEVC Main and Main 10 through the package's own encoder."),
    .trait(name: "X264", description: "H.264 through libx264 (GPL), for sessions that name it."),
    .trait(name: "X265", description: "HEVC Main and Main 10 through libx265 (GPL)."),
    .trait(name: "Display", description: "Windows and audio through SDL 2, whose headers it builds with."),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
  ]
    + (isLive
      ? [
        // The command line's sockets.
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        // For tests alone: an independent model of CMTime's arithmetic.
        .package(url: "https://github.com/attaswift/BigInt", from: "6.0.1"),
      ] : []),
  targets: targets,
  swiftLanguageModes: [.v6]
)
