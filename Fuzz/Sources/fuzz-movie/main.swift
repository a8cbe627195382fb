// SPDX-License-Identifier: Apache-2.0
import FuzzDriver

runFuzzer { fuzzMovie($0, $1) }
