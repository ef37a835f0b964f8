/* SPDX-License-Identifier: BSD-2-Clause */
/* The SQLSTATEs that a connection setup meets, in words (PostgreSQL's errcodes.txt). */
#ifndef PGDNSTRACE_SQLSTATE_H
#define PGDNSTRACE_SQLSTATE_H

/* "invalid_password"; for codes not in the table their class; "" when that is unknown too. */
const char *sqlstate_name(const char *sqlstate);

#endif
