/* SPDX-License-Identifier: BSD-2-Clause */
#include "export/arpa.h"

#include <stdio.h>

const char *arpa_name(const struct addr *a, char *buf)
{
	const uint8_t *b = a->bytes;
	char *p = buf, *end = buf + ARPA_LEN;

	buf[0] = '\0';
	if (a->family == ADDR_V4)
		snprintf(buf, ARPA_LEN, "%u.%u.%u.%u.in-addr.arpa", b[3], b[2], b[1], b[0]);
	if (a->family != ADDR_V6)
		return buf;
	for (int i = 15; i >= 0; i--)
		p += snprintf(p, end - p, "%x.%x.", b[i] & 15, b[i] >> 4);
	snprintf(p, end - p, "ip6.arpa");
	return buf;
}
