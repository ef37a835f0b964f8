/* SPDX-License-Identifier: BSD-2-Clause */
/* What report_json.c and report_rows.c share: the page's data in the making. */
#ifndef PGDNSTRACE_REPORT_JSON_H
#define PGDNSTRACE_REPORT_JSON_H

#include "base/json_out.h"
#include "export/report.h"

struct page_json {
	struct json_out j;
	struct report_data *d;
	const struct report_options *o;
	const struct resolver *resolver; /* whose nameservers stay readable in sentences */
};

void report_put_ms(struct json_out *j, const char *key, int64_t at_ns); /* since 1970 */
/* Whole microseconds: the ns are what pseudonyms are keyed with (hide.h). */
void report_put_us(struct json_out *j, const char *key, uint64_t ns);
void report_put_percentiles(struct json_out *j, const struct hist *h);
/* Addresses and sentences that hold some, hidden where asked for. */
void report_put_client(struct page_json *r, const char *key, const char *address);
void report_put_addr(struct page_json *r, const char *key, const struct addr *a);
void report_put_sentence(struct page_json *r, const char *key, const char *text);

void report_put_connections(struct page_json *r); /* the slowest, those in setup, their names */
void report_put_tables(struct page_json *r); /* by key, failures, lookups */

#endif
