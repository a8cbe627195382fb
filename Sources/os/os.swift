// SPDX-License-Identifier: Apache-2.0
// `import os` provides the same names as `import OSLog`. docs/compatibility.md explains why the
// module has another name.

@_exported import OSLog
