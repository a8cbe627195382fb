// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0
import PackageDescription

// Short programs to start from. In a package of your own, name OpenVideoToolbox by its address in place of the path.
//   swift run --package-path Examples DrawMovie drawn.mp4
let onLinux: [Target.Dependency] = [
  .product(name: "OpenVideoToolbox", package: "OpenVideoToolbox", condition: .when(platforms: [.linux]))
]

let package = Package(
  name: "Examples",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "OpenVideoToolbox", path: "..", traits: ["X264", "X265"])],
  targets: [
    .executableTarget(name: "DrawMovie", dependencies: onLinux),
    .executableTarget(name: "Transcode", dependencies: onLinux),
  ],
  swiftLanguageModes: [.v6]
)
