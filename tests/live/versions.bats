# PostgreSQL 15 and 18 as Debian builds them, each in a root of its own: the same connections give the
# same record, with return probes as with return sites. 13 and 17: long-versions.bats.

setup_file() {
	load ../lab/lab.bash
	lab_begin
	lab_dns_start
}

teardown_file() {
	load ../lab/lab.bash
	lab_end
}

setup() {
	load ../lab/lab.bash
	load ../lab/versions.bash
}

teardown() {
	lab_trace_kill
}

@test "PostgreSQL 15: every connection is told, its phases add up, 8 program runs each" {
	version_test 15 8
}

@test "PostgreSQL 18: every connection is told, its login trigger has a phase of its own, 9 program runs" {
	version_test 18 9
}

in_setup_and_over() {
	lab_psql pg18 -c 'SELECT 1'
}

# io_workers and a crash restart fork children that nobody connected to.
@test "PostgreSQL 18: workers and a crash restart under way are no connections" {
	local backend
	export LAB_PORT=5418
	lab_pg_start pg18 >/dev/null
	rm -f "$LAB_DIR/probes.jsonl"
	: >"$(lab_pg_home pg18)/log"
	version_trace 18 probes
	lab_client 13 psql -c 'SELECT pg_backend_pid()' -c 'SELECT pg_sleep(60)' -At >"$LAB_DIR/backend" 2>&1 3>&- &
	wait_for 10 test -s "$LAB_DIR/backend"
	lab_psql pg18 -c 'ALTER SYSTEM SET io_workers = 8' -c 'SELECT pg_reload_conf()'
	wait_for 10 io_workers 8
	backend=$(head -n 1 "$LAB_DIR/backend")
	kill -KILL "$backend"
	wait_for 20 grep -q 'all server processes terminated' "$(lab_pg_home pg18)/log"
	wait_for 20 in_setup_and_over
	lab_trace_wait_conns "$LAB_DIR/probes.jsonl" 3
	LAB_TRACE=probes lab_trace_stop
	lab_same 0 "$(lab_trace_line "$LAB_DIR/probes.jsonl" end .lost)"
	lab_same "$(connections_logged)" "$(lab_trace_line "$LAB_DIR/probes.jsonl" end .connections)"
}

io_workers() {
	(($(pgrep -c -P "$(lab_pg_pid pg18)" -f 'io worker') == $1))
}

connections_logged() {
	grep -c 'connection received' "$(lab_pg_home pg18)/log"
}
