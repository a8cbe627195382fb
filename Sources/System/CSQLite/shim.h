// SPDX-License-Identifier: Apache-2.0
// SQLite's public header, and what Swift cannot import of it.
#ifndef CSQLITE_SHIM_H
#define CSQLITE_SHIM_H

#include <sqlite3.h>

/// For a file that anybody may have written: its schema runs no functions, and nobody's SQL can
/// corrupt it.
static inline int ovt_sqlite_distrust(sqlite3 *database) {
  int code = sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, (int *)0);
#ifdef SQLITE_DBCONFIG_TRUSTED_SCHEMA
  if (code == SQLITE_OK) code = sqlite3_db_config(database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, (int *)0);
#endif
  return code;
}

/// While it is on, VACUUM empties the file, damaged as it may be.
static inline int ovt_sqlite_reset(sqlite3 *database, int isOn) {
  return sqlite3_db_config(database, SQLITE_DBCONFIG_RESET_DATABASE, isOn, (int *)0);
}

#endif
