# What a traced connection looks like: complete, exact, at the price that was promised.

setup_file() {
	load ../lab/lab.bash
	lab_begin
	lab_dns_start
	lab_pg_create main log_hostname=on autovacuum=off # a worker is two program runs
	lab_pg_own_executable main
	lab_pg_start main
}

teardown_file() {
	load ../lab/lab.bash
	lab_end
}

setup() {
	load ../lab/lab.bash
	TRACE=$BATS_TEST_TMPDIR/trace.jsonl
	lab_dns
	lab_resolver
}

teardown() {
	lab_trace_kill
}

trace() {
	lab_trace_start --pid "$(lab_pg_pid main)" -q -o "$TRACE" "$@"
}

@test "401 connections of pgbench are 401 ready lines whose phases add up to the nanosecond" {
	trace
	lab_reconnect 5 4 100
	lab_trace_stop
	[ "$(lab_trace_count "$TRACE")" = 401 ]
	[ "$(lab_trace_count "$TRACE" '.outcome == "ready" and .client == "10.42.0.5" and .user == "postgres" and .application == "pgbench"')" = 401 ]
	[ "$(lab_trace_count "$TRACE" '.lookups[0].result == "name" and .lookups[0].name == "client-5.example"')" = 401 ]
	lab_trace_adds_up "$TRACE"
	[ "$(lab_trace_line "$TRACE" end '"\(.connections) \(.ready) \(.lost)"')" = '401 401 0' ]
}

@test "a connection is told with the server's own pid and session id" {
	lab_pg_set main "log_line_prefix='%p %c '" log_connections=on
	trace
	lab_client 6 psql -c 'SELECT 1'
	lab_trace_stop
	read -r pid session < <(lab_trace_line "$TRACE" conn '"\(.pid) \(.session_id)"')
	grep "^$pid $session .*connection authorized" "$(lab_pg_home main)/log"
}

@test "IPv6 and unix socket clients are told as what they are" {
	trace
	lab_client6 7 psql -c 'SELECT 1'
	lab_psql main -c 'SELECT 1'
	lab_trace_stop
	[ "$(lab_trace_count "$TRACE" '.client == "fd42::7" and .client_port > 0 and .wait_us > .total_us')" = 1 ]
	[ "$(lab_trace_count "$TRACE" '.client == "[local]" and (has("client_port") | not) and .wait_us == .total_us and (has("dns_us") | not) and (.phases_us | has("queue") | not)')" = 1 ]
}

@test "a TLS connection has tls above 0 and within startup" {
	lab_pg_tls main
	trace
	PGSSLMODE=require lab_client 8 psql -c 'SELECT 1'
	lab_client 8 psql -c 'SELECT 1'
	lab_trace_stop
	[ "$(lab_trace_count "$TRACE" '.within_us.tls > 0 and .within_us.tls < .phases_us.startup')" = 1 ]
	[ "$(lab_trace_count "$TRACE" 'has("within_us") | not')" = 1 ]
}

@test "answers that take 100 ms show in hostname and in no other phase" {
	lab_dns delay:100
	trace
	for n in 1 2 3 4 5 6 7 8 9; do
		lab_client "$n" psql -c 'SELECT 1'
	done
	lab_trace_stop
	[ "$(jq -n '[inputs | select(.type == "conn").phases_us.hostname] | sort | .[4] >= 100000' "$TRACE")" = true ]
	[ "$(jq -n '[inputs | select(.type == "conn").phases_us | del(.hostname) | to_entries[]] | group_by(.key) |
		map([.[].value] | sort | .[4]) | max < 50000' "$TRACE")" = true ]
}

@test "clients stuck in a dead name server are on view, age, and give up" {
	local n
	lab_dns drop
	lab_resolver 'nameserver 127.0.0.1' 'options timeout:3 attempts:2'
	lab_trace_start --pid "$(lab_pg_pid main)" --text -i 1 -o "$TRACE"
	for n in 1 2 3 4 5 6 7 8; do
		PGCONNECT_TIMEOUT=3 lab_client "$n" psql -c 'SELECT 1' >/dev/null 2>&1 3>&- &
	done
	wait_for 2 grep -q 'in setup   hostname 8' "$LAB_DIR/trace.out"
	lab_trace_wait_conns "$TRACE" 8
	lab_trace_stop
	# the oldest of them grew older from view to view
	[ "$(sed -n 's/.*oldest \([0-9.]*\)s.*/\1/p' "$LAB_DIR/trace.out" | sort -un | wc -l)" -ge 3 ]
	[ "$(lab_trace_count "$TRACE" '.outcome == "gave_up" and .phase == "hostname" and
		.client_gone_us > 2.5e6 and .client_gone_us < 5e6 and
		.lookups[0].result == "failed" and .lookups[0].code == -3')" = 8 ]
	[ "$(jq -rn '[inputs | select(.type == "conn") | .client] | unique | length' "$TRACE")" = 8 ]
}

@test "children under way when tracing begins are counted, listed, and told as connections nowhere" {
	lab_dns drop
	lab_resolver 'nameserver 127.0.0.1' 'options timeout:20 attempts:1'
	lab_client 3 psql -c 'SELECT 1' >/dev/null 2>&1 3>&- &
	wait_for 5 lookup_under_way
	lab_trace_start --pid "$(lab_pg_pid main)" --text -i 1 -o "$TRACE"
	wait_for 10 grep -q 'before start 1' "$LAB_DIR/trace.out"
	grep -q 'in setup .*unknown 1' "$LAB_DIR/trace.out"
	lab_trace_stop
	kill %1
	[ "$(lab_trace_line "$TRACE" end '"\(.before_start) \(.connections)"')" = '1 0' ]
}

lookup_under_way() {
	[ -n "$(ss -N "$LAB_NS" -Hunp 'dport = :53' | grep postgres)" ]
}

@test "with log_hostname off no connection has a lookup, and a reload under load is told" {
	trace
	lab_pg_set main log_hostname=off
	wait_for 5 settings_lines 1
	lab_reconnect 9 2 40
	lab_pg_set main log_hostname=on
	wait_for 5 settings_lines 2
	lab_reconnect 10 2 40
	lab_trace_stop
	[ "$(lab_trace_line "$TRACE" settings .changed.log_hostname | xargs)" = 'false true' ]
	[ "$(lab_trace_count "$TRACE" '.client == "10.42.0.9" and (has("lookups") | not)')" = 81 ]
	[ "$(lab_trace_count "$TRACE" '.client == "10.42.0.10" and .lookup_count == 1')" = 81 ]
}

settings_lines() {
	[ "$(grep -c '"type":"settings"' "$TRACE")" -ge "$1" ]
}

@test "of two clusters on one executable only the one asked for is told" {
	LAB_PORT=5433 lab_pg_create other
	ln "$(lab_pg_home main)/postgres" "$(lab_pg_home other)/postgres"
	LAB_PORT=5433 lab_pg_start other
	trace
	lab_client 11 psql -c 'SELECT 1'
	LAB_PORT=5433 lab_client 12 psql -c 'SELECT 1'
	LAB_PORT=5433 lab_psql other -c 'SELECT 1'
	lab_client 11 psql -c 'SELECT 1'
	lab_trace_stop
	LAB_PORT=5433 lab_pg_stop other
	[ "$(lab_trace_count "$TRACE")" = 2 ]
	[ "$(lab_trace_count "$TRACE" '.client == "10.42.0.11"')" = 2 ]
}

# runs COMMAND...: program runs while COMMAND ran.
runs() {
	local before
	before=$(lab_trace_runs)
	"$@" >/dev/null
	echo $(($(lab_trace_runs) - before))
}

@test "a plain connection costs 8 program runs, 10,000 queries cost none" {
	local one many
	echo 'SELECT 1;' >"$BATS_TEST_TMPDIR/select.sql"
	trace
	lab_bpf_stats
	[ "$(runs lab_client 13 psql -c 'SELECT 1')" = 8 ]
	one=$(runs lab_client 13 pgbench -n -t 1 -f "$BATS_TEST_TMPDIR/select.sql")
	many=$(runs lab_client 13 pgbench -n -t 10000 -f "$BATS_TEST_TMPDIR/select.sql")
	[ "$many" = "$one" ]
}

@test "a ring of 4 KiB loses connections in a storm, counts each, and tells no wrong one" {
	trace --ring 4K
	lab_reconnect 14 8 20
	# a reader that does not come in time, for certain
	kill -STOP "$(lab_trace_pid)"
	lab_reconnect 14 8 40
	kill -CONT "$(lab_trace_pid)"
	lab_reconnect 14 8 20
	lab_trace_stop
	lab_trace_adds_up "$TRACE"
	[ "$(lab_trace_line "$TRACE" end .connections)" = 643 ]
	[ "$(lab_trace_line "$TRACE" end .lost)" -gt 0 ]
	[ "$(lab_trace_count "$TRACE" '.outcome != "ready" or .client != "10.42.0.14" or .user != "postgres"')" = 0 ]
	grep -q 'ring' "$LAB_DIR/trace.err"
}

@test "escape bytes in names come out harmless in text and valid in JSON" {
	local esc=$'\e]0;owned\a\e[31mred'
	lab_trace_start --pid "$(lab_pg_pid main)" --text -e --by user --by database -o "$TRACE"
	lab_wire ask 15 $'\\x1b]0;owned\\x07\\x1b[31m' $'\\x1b[2J\\xff'
	PGUSER=$esc PGDATABASE=$esc lab_client 15 psql -c 'SELECT 1' || true
	lab_trace_wait_conns "$TRACE" 2
	lab_trace_stop
	run ! grep -qP '[\x00-\x08\x0b-\x1f\x7f]' "$LAB_DIR/trace.out"
	jq -e . "$TRACE" >/dev/null
	iconv -f UTF-8 -t UTF-8 "$TRACE" >/dev/null
	[ "$(jq -rn --arg name "$esc" '[inputs | select(.type == "conn" and .user == $name)] | length' "$TRACE")" = 1 ]
}

@test "metrics count what is traced, as a text file and over HTTP" {
	local file=$BATS_TEST_TMPDIR/pgdnstrace.prom port
	lab_trace_start --pid "$(lab_pg_pid main)" -q -i 0.5 --prometheus "$file" --listen 127.0.0.1:0
	lab_reconnect 16 2 10
	wait_for 10 grep -q 'pgdnstrace_connections_total{outcome="ready"} 21' "$file"
	port=$(sed -n 's/.*metrics at port \([0-9]*\).*/\1/p' "$LAB_DIR/trace.err")
	curl -sf "http://127.0.0.1:$port/metrics" | grep -q 'pgdnstrace_connections_total{outcome="ready"} 21'
	[ "$(stat -c %a "$file")" = 644 ]
	lab_trace_stop
}
