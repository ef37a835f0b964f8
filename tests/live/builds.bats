# Servers as other people build them: without one function or another, or with one that link time
# optimization has put into its caller, so that its symbol is there and never runs. Made of Debian's
# PostgreSQL 18 by changing its symbol table.

setup_file() {
	load ../lab/lab.bash
	lab_begin
	LAB_PG_ROOT=$("$LAB_HOME/pgroot" 18) lab_pg_create main
}

teardown_file() {
	load ../lab/lab.bash
	lab_end
}

setup() {
	load ../lab/lab.bash
	trace=$LAB_DIR/trace.jsonl
	rm -f "$trace"
}

teardown() {
	lab_trace_kill
	lab_pg_stop main QUIT
}

# build CHANGE...: start the server with its symbols changed (see tests/lab/elfsym).
build() {
	lab_pg_own_executable main
	"$LAB_HOME/elfsym" "$(lab_pg_home main)/postgres" "$@"
	lab_pg_start main >/dev/null
}

# start_build CHANGE...: and trace it.
start_build() {
	build "$@"
	lab_trace_start -D "$(lab_pg_home main)/data" -q -o "$trace"
}

# connect N: connections that get ready, and one whose database does not exist.
connect() {
	lab_reconnect 7 2 "$((($1 - 1) / 2))"
	PGDATABASE=nowhere run ! lab_client 7 psql -c 'SELECT 1'
}

missing() {
	lab_trace_line "$trace" "$1" "$2.missing_phases | join(\" \")"
}

counts() {
	lab_trace_line "$trace" end '"\(.connections) \(.ready) \(.failed) \(.lost)"'
}

# all_told N: every one of N connections once, one of them failed.
all_told() {
	lab_trace_wait_conns "$trace" "$1"
	lab_trace_stop
	[ "$(counts)" = "$1 $(($1 - 1)) 1 0" ]
}

# silent FUNCTION PHASES: it was named while tracing, once, and the phases with it.
silent() {
	[ "$(grep -c "the function $1 never runs" "$LAB_DIR/trace.err")" -eq 1 ]
	[ "$(missing start '')" = '' ]
	[ "$(missing settings .changed)" = "$2" ]
}

@test "without EventTriggerOnLogin the phase login is missing" {
	start_build hide EventTriggerOnLogin
	connect 21
	all_told 22
	[ "$(missing start '')" = login ]
	lab_trace_adds_up "$trace"
	[ "$(lab_trace_count "$trace" '.phases_us.login')" -eq 0 ]
}

@test "without the accept function queue and fork are missing, and workers are no connections" {
	start_build hide AcceptConnection
	lab_psql main -c 'ALTER SYSTEM SET io_workers = 8' -c 'SELECT pg_reload_conf()'
	connect 21
	all_told 23
	[ "$(missing start '')" = 'queue fork' ]
	lab_trace_adds_up "$trace"
	[ "$(lab_trace_count "$trace" '.phases_us.queue or .phases_us.fork')" -eq 0 ]
	[ "$(lab_trace_count "$trace" '.client == "10.42.0.7" and .wait_us')" -eq 0 ]
}

@test "without errcode a failure has no SQLSTATE, and everything else" {
	start_build hide errcode
	connect 21
	all_told 22
	grep 'no function errcode' "$LAB_DIR/trace.err"
	[ "$(missing start '')" = '' ]
	[ "$(lab_trace_count "$trace" '.sqlstate')" -eq 0 ]
	[ "$(lab_trace_count "$trace" '.outcome == "failed" and .phase == "prepare"')" -eq 1 ]
}

@test "a server without pg_getnameinfo_all cannot be traced, and that is said" {
	build hide pg_getnameinfo_all
	run -3 "$LAB_ROOT/pgdnstrace" -D "$(lab_pg_home main)/data" -q
	[[ $output == *pg_getnameinfo_all* ]]
}

@test "a function that never runs is named once, and its phase merges with the one before" {
	start_build alias InitProcess pg_logical_emit_message_text
	connect 31
	all_told 32
	silent InitProcess join
	lab_trace_adds_up "$trace"
	[ "$(lab_trace_count "$trace" '.phases_us.join')" -eq 0 ]
	[ "$(lab_trace_count "$trace" '.outcome == "ready" and .phases_us.startup and .phases_us.auth')" -eq 31 ]
}

@test "an accept function that never runs costs no connection" {
	start_build alias AcceptConnection pg_logical_emit_message_text
	connect 31
	all_told 32
	silent AcceptConnection 'queue fork'
	lab_trace_adds_up "$trace"
}

@test "a ready marker that never runs gives way to another, and nothing is told that was not seen" {
	start_build alias EventTriggerOnLogin pg_logical_emit_message_text
	connect 31
	wait_for 30 grep -q 'from now on BeginReportingGUCOptions tells' "$LAB_DIR/trace.err"
	lab_trace_wait_conns "$trace" 32
	lab_reconnect 8 1 4
	lab_trace_wait_conns "$trace" 37
	lab_trace_stop
	[ "$(counts)" = '37 36 1 0' ]
	silent EventTriggerOnLogin login
	[ "$(lab_trace_count "$trace" '.client == "10.42.0.7" and .outcome == "ready" and .total_us')" -eq 0 ]
	[ "$(lab_trace_count "$trace" '.client == "10.42.0.8" and .total_us and .phases_us.prepare')" -eq 5 ]
}

@test "sessions that stay are not called in setup because the ready marker never ran" {
	local clients=() i
	start_build alias EventTriggerOnLogin pg_logical_emit_message_text
	for i in {1..21}; do
		lab_client "$i" psql -c "SELECT 1" -c "\\! sleep 60" >/dev/null 2>&1 3>&- &
		clients+=($!)
	done
	wait_for 20 grep -q 'EventTriggerOnLogin never runs' "$LAB_DIR/trace.err"
	lab_trace_wait_conns "$trace" 21
	lab_trace_stop
	kill "${clients[@]}"
	[ "$(lab_trace_line "$trace" end '"\(.connections) \(.ready) \(.in_setup)"')" = '21 21 0' ]
}
