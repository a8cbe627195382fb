// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RealTimeTransport

extension RecoveryMode: ExpressibleByArgument {}
