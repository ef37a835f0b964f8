/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PGDNSTRACE_ARPA_H
#define PGDNSTRACE_ARPA_H

#include "model/conn.h"

#define ARPA_LEN 80
/* The name that a reverse lookup asks for, "5.1.42.10.in-addr.arpa"; "" for no address. Returns buf. */
const char *arpa_name(const struct addr *a, char *buf);

#endif
