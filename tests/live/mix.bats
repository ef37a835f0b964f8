# Every way a connection can end, many of each, told exactly. And what is no connection is not told.

setup_file() {
	load ../lab/lab.bash
	lab_begin
	lab_dns_start
	lab_pg_create main log_hostname=off max_connections=20 superuser_reserved_connections=3 \
		archive_mode=on "archive_command='true'" autovacuum_naptime=1s restart_after_crash=on
	lab_pg_start main
	lab_pg_user main alice secret
	lab_psql main -c 'ALTER ROLE alice SUPERUSER' -c 'CREATE TABLE t AS SELECT generate_series(1, 200000) i' \
		-c 'ALTER TABLE t SET (parallel_workers = 2)'
	lab_pg_hba main 'host nowhere all all reject' 'host postgres alice all scram-sha-256' 'host all all all trust'
	export MIX=$LAB_DIR/mix.jsonl
	lab_trace_start --pid "$(lab_pg_pid main)" -q -o "$MIX"
	make_mix
	lab_trace_stop
}

teardown_file() {
	load ../lab/lab.bash
	lab_end
}

setup() {
	load ../lab/lab.bash
}

# times N COMMAND...: N times, whatever it returns.
times() {
	local n
	for ((n = 0; n < $1; n++)); do
		"${@:2}" >/dev/null 2>&1 || true
	done
}

make_mix() {
	local sessions pid
	# noise that is no connection: workers, autovacuum, archiver
	lab_psql main -c 'SET min_parallel_table_scan_size = 0; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0;
		SELECT count(*) FROM t' -c 'SELECT pg_switch_wal()' >/dev/null
	times 50 lab_client 1 psql -c 'SELECT 1'
	PGPASSWORD=wrong PGUSER=alice times 20 lab_client 2 psql -c 'SELECT 1'
	PGUSER=alice times 20 lab_client 3 psql -w -c 'SELECT 1'
	PGDATABASE=missing times 20 lab_client 4 psql -c 'SELECT 1'
	PGDATABASE=nowhere times 10 lab_client 5 psql -c 'SELECT 1'
	times 20 lab_wire probe 6
	times 5 lab_wire cancel 7
	times 5 lab_wire http 8
	times 5 lab_wire half 9
	times 5 lab_wire startup 10 alice postgres
	lab_pg_set main authentication_timeout=1s
	times 1 lab_wire half-silent 11 5
	times 1 lab_wire startup-silent 12 5 alice postgres
	lab_pg_set main authentication_timeout=60s
	# 17 sessions hold every ordinary slot, 5 more are refused
	lab_client 13 pgbench -n -c 17 -T 20 -f <(echo 'SELECT pg_sleep(20);') >/dev/null 2>&1 &
	sessions=$!
	lab_trace_wait_conns "$MIX" $((1 + 50 + 20 + 20 + 20 + 10 + 20 + 5 + 5 + 5 + 5 + 2 + 18))
	lab_psql main -qc 'CREATE ROLE bob LOGIN'
	PGUSER=bob times 5 lab_client 14 psql -c 'SELECT 1'
	kill "$sessions" 2>/dev/null || true
	# one waits for its startup packet and is killed: the server restarts its children
	lab_wire silent 15 20 &
	wait_for 10 one_in_startup
	pid=$(ss -N "$LAB_NS" -Htnp "dst 10.42.0.15 and sport = :5432" | sed -n 's/.*pid=\([0-9]*\).*/\1/p' | tail -n 1)
	kill -KILL "$pid"
	wait_for 30 lab_psql main -c 'SELECT 1'
}

one_in_startup() {
	[ -n "$(ss -N "$LAB_NS" -Htnp 'dst 10.42.0.15 and sport = :5432' | grep postgres)" ]
}

# count CONDITION
count() {
	lab_trace_count "$MIX" "$1"
}

@test "50 ready ones are ready" {
	[ "$(count '.client == "10.42.0.1" and .outcome == "ready" and .database == "postgres"')" = 50 ]
}

@test "20 wrong passwords failed in auth with 28P01" {
	[ "$(count '.client == "10.42.0.2" and .outcome == "failed" and .phase == "auth" and .sqlstate == "28P01" and .user == "alice"')" = 20 ]
}

@test "20 clients that left when asked for a password gave up in auth" {
	[ "$(count '.client == "10.42.0.3" and .outcome == "gave_up" and .phase == "auth" and .client_gone_us > 0')" = 20 ]
}

@test "20 missing databases failed in prepare with 3D000" {
	[ "$(count '.client == "10.42.0.4" and .outcome == "failed" and .phase == "prepare" and .sqlstate == "3D000"')" = 20 ]
}

@test "10 pg_hba rejects failed in auth with 28000" {
	[ "$(count '.client == "10.42.0.5" and .outcome == "failed" and .phase == "auth" and .sqlstate == "28000"')" = 10 ]
}

@test "20 probes closed" {
	[ "$(count '.client == "10.42.0.6" and .outcome == "closed" and .phase == "startup" and (has("sqlstate") | not)')" = 20 ]
}

@test "5 cancel requests are cancel" {
	[ "$(count '.client == "10.42.0.7" and .outcome == "cancel" and .phase == "startup"')" = 5 ]
}

@test "5 HTTP requests failed in startup with 08P01" {
	[ "$(count '.client == "10.42.0.8" and .outcome == "failed" and .phase == "startup" and .sqlstate == "08P01"')" = 5 ]
}

@test "5 half startup packets gave up, at the latest in startup" {
	[ "$(count '.client == "10.42.0.9" and .outcome == "gave_up" and (.phases_us | has("startup") and (has("join") | not))')" = 5 ]
}

@test "5 that sent a whole startup packet and went gave up" {
	# some of them by a RST: they leave the password request unread
	[ "$(count '.client == "10.42.0.10" and .outcome == "gave_up" and has("client_gone_us")')" = 5 ]
}

@test "a startup packet timeout failed in startup without SQLSTATE" {
	[ "$(count '.client == "10.42.0.11" and .outcome == "failed" and .phase == "startup" and (has("sqlstate") | not) and .total_us >= 1e6')" = 1 ]
}

@test "an authentication timeout failed in auth with 57014" {
	[ "$(count '.client == "10.42.0.12" and .outcome == "failed" and .phase == "auth" and .sqlstate == "57014"')" = 1 ]
}

@test "those beyond max_connections failed with 53300" {
	[ "$(count '.client == "10.42.0.14" and .outcome == "failed" and .sqlstate == "53300"')" = 5 ]
}

@test "the one killed while it waited for the startup packet is killed" {
	[ "$(count '.client == "10.42.0.15" and .outcome == "killed" and .phase == "startup"')" = 1 ]
}

@test "the sum is right and nothing is told that is no connection" {
	lab_trace_adds_up "$MIX"
	[ "$(count '.client == null')" = 0 ]
	[ "$(lab_trace_line "$MIX" end .lost)" = 0 ]
	# all from clients that made some, or by the unix socket
	[ "$(count '.client | test("^10.42.0.([1-9]|1[0-5])$|local") | not')" = 0 ]
}

@test "replay gives the same numbers as the live summary" {
	run -0 "$LAB_ROOT/pgdnstrace" replay --text "$MIX"
	[[ $output == *"20 closed"* && $output == *"5 cancel"* && $output == *"1 killed"* ]]
}
