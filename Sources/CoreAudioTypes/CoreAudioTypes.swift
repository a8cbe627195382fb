// SPDX-License-Identifier: Apache-2.0
// Descriptions of streams, buffers and layouts of channels are Core Media's here, which needs them; what is beside them
// is in this module.
@_exported import CoreMedia
