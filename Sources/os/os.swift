// SPDX-License-Identifier: Apache-2.0
// What `import os` brings is what `import OSLog` brings. Why the module has another name: docs/compatibility.md.

@_exported import OSLog
