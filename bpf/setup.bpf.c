// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* A backend's way from its startup packet to ready. Runs once per connection, never per query. */
#include "bpf/conn.bpf.h"

SEC("uprobe")
int on_tls_enter(struct pt_regs *ctx)
{
	return span_begins(WITHIN_TLS);
}

SEC("uretprobe")
int on_tls_return(struct pt_regs *ctx)
{
	return span_ends(WITHIN_TLS);
}

SEC("uprobe")
int on_gss_enter(struct pt_regs *ctx)
{
	return span_begins(WITHIN_GSS);
}

SEC("uretprobe")
int on_gss_return(struct pt_regs *ctx)
{
	return span_ends(WITHIN_GSS);
}

static __always_inline int mark_own(int instant)
{
	struct state *st = own_state();

	if (st)
		mark(&st->rec, instant);
	return 0;
}

SEC("uprobe")
int on_init_process(struct pt_regs *ctx)
{
	return mark_own(PHASE_JOIN);
}

SEC("uprobe")
int on_auth_enter(struct pt_regs *ctx)
{
	return mark_own(PHASE_AUTH);
}

SEC("uprobe")
int on_login_enter(struct pt_regs *ctx)
{
	return mark_own(PHASE_LOGIN);
}

/*
 * InitPostgres(const char *in_dbname, Oid, const char *username, ...) in 13 to 19. A process that
 * comes here without having asked for its client's address has none: no connection.
 */
/* Connections that came to InitPostgres so; many, and none otherwise: pg_getnameinfo_all never fires. */
__u32 unmet_clients = 0;
/* Set once that is known: then connections are told without their client. */
__u32 keep_unmet = 0;

SEC("uprobe")
int on_init_postgres(struct pt_regs *ctx)
{
	struct state *st = own_state();
	__u32 pid = own_pid();

	if (!st)
		return 0;
	if (!st->rec.start[PHASE_HOSTNAME] && !keep_unmet) {
		if (st->rec.start[PHASE_FORK])
			__sync_fetch_and_add(&unmet_clients, 1);
		bpf_map_delete_elem(&states, &pid);
		return 0;
	}
	bpf_probe_read_user_str(st->rec.database, PG_NAME_LEN, (void *)PT_REGS_PARM1(ctx));
	bpf_probe_read_user_str(st->rec.user, PG_NAME_LEN, (void *)PT_REGS_PARM3(ctx));
	st->rec.has_user = 1;
	return 0;
}

/* errcode(int sqlerrcode): the first one's time and the last one's code. Notices come by here too. */
SEC("uprobe")
int on_errcode(struct pt_regs *ctx)
{
	struct state *st = own_state();

	if (!st)
		return 0;
	if (!st->rec.errcode_ns)
		st->rec.errcode_ns = bpf_ktime_get_ns();
	st->rec.sqlstate = (int)PT_REGS_PARM1(ctx);
	return 0;
}

static __always_inline void read_server_variables(struct record *rec)
{
	__u64 name = 0;

	if (config.application_name &&
	    !bpf_probe_read_user(&name, sizeof(name), (void *)config.application_name))
		bpf_probe_read_user_str(rec->application, PG_NAME_LEN, (void *)name);
	if (config.conn_timing)
		bpf_probe_read_user(rec->conn_timing, sizeof(rec->conn_timing),
				    (void *)config.conn_timing);
}

static __always_inline int ready(struct state *st)
{
	mark(&st->rec, MARK_READY);
	st->rec.ready = 1;
	read_server_variables(&st->rec);
	finish(st, own_pid());
	return 0;
}

/* Where the version at hand has its ready marker (see symbols.h) at a function's entry, */
SEC("uprobe")
int on_ready_enter(struct pt_regs *ctx)
{
	struct state *st = own_state();

	return st ? ready(st) : 0;
}

/* or at its return. */
SEC("uretprobe")
int on_ready_return(struct pt_regs *ctx)
{
	struct state *st = own_state();

	return st && st->rec.start[PHASE_LOGIN] ? ready(st) : 0;
}

SEC("uretprobe")
int on_auth_return(struct pt_regs *ctx)
{
	struct state *st = own_state();

	if (st)
		mark_after(&st->rec, PHASE_AUTH, PHASE_PREPARE);
	return 0;
}
