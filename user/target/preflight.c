/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "target/open.h"
#include "target/preflight.h"

const char *check_state_name(enum check_state state)
{
	static const char *const names[] = {
#define NAME(name, text) text,
		CHECK_STATES(NAME)
#undef NAME
	};

	return names[state];
}

struct check *preflight_add(struct preflight *p, const char *name, enum check_state state)
{
	/* no list is that long; should one be, its last entry gives way and nothing is overrun */
	struct check *check = &p->checks[p->count < PREFLIGHT_MAX ? p->count++ : PREFLIGHT_MAX - 1];

	*check = (struct check){ .name = name, .state = state };
	return check;
}

int preflight_verdict(const struct preflight *p, struct problem *problem)
{
	for (int i = 0; i < p->count; i++) {
		const struct check *check = &p->checks[i];

		if (check->state == CHECK_MISSING)
			return problem_set(problem, -ENOTSUP, EXIT_CANNOT_TRACE, "%s: %s",
					   check->text, check->remedy);
	}
	return 0;
}

int preflight_run(const struct target *t, const char *btf, struct problem *problem)
{
	struct preflight p = { .count = 0 };

	preflight_host(&p, btf);
	preflight_target(&p, t);
	for (int i = 0; i < p.count; i++)
		log_debug("%s: %s: %s", p.checks[i].name, check_state_name(p.checks[i].state),
			  p.checks[i].text);
	return preflight_verdict(&p, problem);
}
