/* SPDX-License-Identifier: BSD-2-Clause */
#include "model/event.h"

#include <string.h>

void settings_apply(struct settings *now, const struct settings *changed)
{
	if (changed->has_log_hostname) {
		now->has_log_hostname = true;
		now->log_hostname = changed->log_hostname;
	}
	if (changed->has_log_line_prefix) {
		now->has_log_line_prefix = true;
		memcpy(now->log_line_prefix, changed->log_line_prefix,
		       sizeof(now->log_line_prefix));
	}
	if (changed->has_printers) {
		now->has_printers = true;
		now->printers = changed->printers;
	}
}

uint64_t tick_lost(const struct tick *t)
{
	uint64_t lost = 0;

	for (int l = 0; l < LOSS_COUNT; l++)
		lost += t->lost[l];
	return lost;
}

void end_sum(struct end *end)
{
	end->connections = end->in_setup + end->lost;
	for (enum outcome o = 0; o < OUTCOME_COUNT; o++)
		end->connections += end->outcomes[o];
}
