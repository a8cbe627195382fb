// swift-tools-version: 6.2
import PackageDescription

// Harnesses for libFuzzer. scripts/fuzz builds and runs them.
let package = Package(
  name: "Fuzz",
  dependencies: [.package(name: "OpenVideoToolbox", path: "..")],
  targets: [
    .target(name: "FuzzDriver"),
    .executableTarget(
      name: "fuzz-streams",
      dependencies: [
        "FuzzDriver",
        .product(name: "CoreMedia", package: "OpenVideoToolbox"),
        .product(name: "ElementaryStream", package: "OpenVideoToolbox"),
      ]),
    .executableTarget(
      name: "fuzz-movie",
      dependencies: ["FuzzDriver", .product(name: "AVFoundation", package: "OpenVideoToolbox")]),
  ],
  swiftLanguageModes: [.v6]
)
