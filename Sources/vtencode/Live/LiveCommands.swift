// SPDX-License-Identifier: Apache-2.0
import ArgumentParser

/// The subcommands that use the network. MissingLiveCommands.swift replaces this file and the
/// rest of the live part in builds with `OVT_WITHOUT_LIVE=1`, which do without SwiftNIO.
let liveCommands: [any ParsableCommand.Type] = [Send.self, Receive.self, Serve.self]
