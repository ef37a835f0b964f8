# The static binary, copied to hosts that have none of its libraries: chroots with nothing but Debian
# 11, 12, 13 and sid's PostgreSQL in them. In each it traces a server of that host.

setup_file() {
	load ../lab/lab.bash
	make -C "$LAB_ROOT" static >&2
	lab_begin
}

teardown_file() {
	load ../lab/lab.bash
	lab_end
}

setup() {
	load ../lab/lab.bash
}

teardown() {
	lab_pg_destroy_all
	[[ -z ${copied:-} ]] || rm -f "$copied"
}

# in_root ROOT COMMAND...: become that command there, with the kernel's file systems, as on a host.
in_root() {
	# shellcheck disable=SC2016 # expanded by the inner shell
	exec unshare -m bash -euc '
		mount --rbind /proc "$0/proc"
		mkdir -p "$0/sys"
		mount --rbind /sys "$0/sys"
		exec chroot "$0" "$@"' "$@"
}

# trace_in VERSION: three connections, traced from within the server's own root.
trace_in() {
	local root binary trace
	root=$("$LAB_HOME/pgroot" "$1")
	LAB_PG_ROOT=$root lab_pg_create main
	lab_pg_start main >/dev/null
	binary=$LAB_DIR/main/pgdnstrace
	copied=$root$binary
	cp "$LAB_ROOT/pgdnstrace-static" "$copied"
	trace=$(lab_pg_home main)/trace.jsonl
	: >"$LAB_DIR/trace.err"
	in_root "$root" "$binary" -D "$LAB_DIR/main/data" -q -o "$LAB_DIR/main/trace.jsonl" \
		2>"$LAB_DIR/trace.err" 3>&- &
	echo $! >"$LAB_DIR/trace.pid"
	wait_for 20 lab_trace_attached "$LAB_DIR/trace"
	lab_reconnect 7 1 2
	lab_trace_wait_conns "$trace" 3
	lab_trace_stop
	lab_same '3 3 0' "$(lab_trace_line "$trace" end '[.connections, .ready, .lost] | join(" ")')"
	lab_same 0 "$(lab_trace_line "$trace" start '.missing_phases | length')"
	lab_trace_adds_up "$trace"
}

@test "it needs no library at all" {
	run -1 ldd "$LAB_ROOT/pgdnstrace-static"
	[[ $output == *'not a dynamic executable'* ]]
}

@test "it traces PostgreSQL 13 on Debian 11" {
	trace_in 13
}

@test "it traces PostgreSQL 15 on Debian 12" {
	trace_in 15
}

@test "it traces PostgreSQL 17 on Debian 13" {
	trace_in 17
}

@test "it traces PostgreSQL 18 on Debian sid" {
	trace_in 18
}
