# shellcheck shell=bash
# One version of PostgreSQL under test (tests/live/versions.bats, long-versions.bats): the same
# connections to each, traced twice at once, with return probes and with return sites.
# Sourced after tests/lab/lab.bash; the version's cluster is pgVERSION on port 54VERSION.

# version_start VERSION: a server with an executable of its own, so that hits can be counted.
version_start() {
	export LAB_PORT=54$1
	LAB_PG_ROOT=$("$LAB_HOME/pgroot" "$1") lab_pg_create "pg$1" log_hostname=on \
		wal_level=logical log_connections=on autovacuum=off
	lab_pg_own_executable "pg$1"
	lab_pg_start "pg$1" >/dev/null
	lab_pg_tls "pg$1"
	lab_pg_user "pg$1" alice secret
	lab_pg_hba "pg$1" 'host all alice all scram-sha-256' 'host all,replication all all trust'
	(($1 < 17)) || version_add_login_trigger "$1"
}

# From version 17 on, a trigger runs at each login; here for 10 ms.
version_add_login_trigger() {
	lab_psql "pg$1" <<-'SQL'
	CREATE FUNCTION at_login() RETURNS event_trigger LANGUAGE plpgsql AS
		'BEGIN PERFORM pg_sleep(0.01); END';
	CREATE EVENT TRIGGER at_login ON login EXECUTE FUNCTION at_login();
	SQL
}

version_trace() {
	LAB_TRACE=$2 lab_trace_start -D "$(lab_pg_home "pg$1")/data" -q -o "$LAB_DIR/$2.jsonl" "${@:3}"
}

# version_trace_start VERSION: both traces, $LAB_DIR/probes.jsonl and $LAB_DIR/sites.jsonl.
version_trace_start() {
	rm -f "$LAB_DIR"/{probes,sites}.jsonl
	version_trace "$1" probes
	version_trace "$1" sites --no-return-probes
}

# version_trace_stop COUNT: once both hold so many connections. Each takes seconds to detach.
version_trace_stop() {
	local name
	for name in probes sites; do lab_trace_wait_conns "$LAB_DIR/$name.jsonl" "$1"; done
	for name in probes sites; do kill -INT "$(LAB_TRACE=$name lab_trace_pid)"; done
	for name in probes sites; do LAB_TRACE=$name lab_trace_wait; done
}

# version_connect: 201 connections of pgbench, one by TLS, one with a wrong password.
version_connect() {
	lab_reconnect 7 4 50
	PGSSLMODE=require lab_client 8 psql -c 'SELECT 1'
	! PGUSER=alice PGPASSWORD=wrong lab_client 9 psql -c 'SELECT 1'
}

# version_check FILE VERSION: these 203, both walsenders and the six of version_check_runs were told as
# they were.
version_check() {
	[[ $(lab_trace_line "$1" start .server_version) == "$2".* ]]
	lab_same 0 "$(lab_trace_line "$1" start '.missing_phases | length')"
	lab_same '211 210 1 0' "$(lab_trace_line "$1" end '[.connections, .ready, .failed, .lost] | join(" ")')"
	lab_trace_adds_up "$1"
	lab_same 201 "$(lab_trace_count "$1" '.client == "10.42.0.7" and .application == "pgbench"')"
	lab_same 210 "$(lab_trace_count "$1" '.outcome == "ready" and .phases_us.hostname > 0')"
	lab_same 2 "$(lab_trace_count "$1" '.within_us.tls > 0 and .within_us.tls <= .phases_us.startup')"
	lab_same 1 "$(lab_trace_count "$1" '.sqlstate == "28P01" and .phase == "auth" and .user == "alice"')"
	version_check_replication "$1"
	# the trigger's 10 ms are in `login`; the physical walsender has no database to have one in
	(($2 < 17)) || lab_same 209 "$(lab_trace_count "$1" '.phases_us.login >= 10000')"
}

# Both walsenders got ready, the physical one with a user and without a database.
version_check_replication() {
	lab_same 1 "$(lab_trace_count "$1" '.client == "10.42.0.11" and .outcome == "ready" and
		.database == "" and .user == "postgres"')"
	lab_same 1 "$(lab_trace_count "$1" '.client == "10.42.0.12" and .outcome == "ready" and
		.database == "postgres"')"
}

# All of a trace that is no duration and no wall clock time.
version_facts() {
	jq -c 'select(.type == "conn") | del(.at, .client_gone_us, .wait_us, .total_us, .dns_us) |
		.phases_us |= keys_unsorted |
		if .within_us then .within_us |= keys_unsorted else . end |
		if .lookups then .lookups |= map(del(.at_us, .dur_us)) else . end' "$1" | sort
}

# version_check_both VERSION: both traces are right, and tell the same of each connection.
version_check_both() {
	local name
	for name in probes sites; do version_check "$LAB_DIR/$name.jsonl" "$1"; done
	diff <(version_facts "$LAB_DIR/probes.jsonl") <(version_facts "$LAB_DIR/sites.jsonl")
}

# version_runs COMMAND...: runs of the traces' uprobe programs while COMMAND ran.
version_runs() {
	local name before=() after=()
	for name in probes sites; do before+=("$(LAB_TRACE=$name lab_trace_runs)"); done
	"$@" >/dev/null
	for name in probes sites; do after+=("$(LAB_TRACE=$name lab_trace_runs)"); done
	echo "$((after[0] - before[0])) $((after[1] - before[1]))"
}

# version_check_runs RUNS: of one connection, two more with TLS, and none for queries, with probes as with sites.
version_check_runs() {
	local one many
	lab_bpf_stats
	echo 'SELECT 1;' >"$LAB_DIR/select.sql"
	lab_same "$1 $1" "$(version_runs lab_client 10 psql -c 'SELECT 1')"
	one=$(version_runs lab_client 10 pgbench -n -t 1 -f "$LAB_DIR/select.sql")
	many=$(version_runs lab_client 10 pgbench -n -t 1000 -f "$LAB_DIR/select.sql")
	lab_same "$one" "$many"
	lab_same "$(($1 + 2)) $(($1 + 2))" "$(PGSSLMODE=require version_runs lab_client 10 psql -c "SELECT 1")"
}

# version_replicate VERSION: a physical and a logical walsender.
version_replicate() {
	lab_client 11 psql 'replication=1' -c 'IDENTIFY_SYSTEM'
	lab_client 12 psql 'replication=database dbname=postgres' -c 'IDENTIFY_SYSTEM'
}

# version_test VERSION RUNS: all of it; RUNS are program runs of one connection.
version_test() {
	version_start "$1"
	version_trace_start "$1"
	version_check_runs "$2"
	version_connect
	version_replicate >/dev/null
	version_trace_stop 211
	version_check_both "$1"
	lab_pg_stop "pg$1" QUIT
}
