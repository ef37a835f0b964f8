# PostgreSQL 13, 15, 17 and 18 as Debian builds them, each in a root of its own: the same
# connections give the same record.

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
}

teardown() {
	lab_trace_kill
}

start_server() {
	export LAB_PORT=54$1
	LAB_PG_ROOT=$("$LAB_HOME/pgroot" "$1") lab_pg_create "pg$1" log_hostname=on
	lab_pg_start "pg$1"
	lab_pg_tls "pg$1"
	lab_pg_user "pg$1" alice secret
	lab_pg_hba "pg$1" 'host all alice all scram-sha-256' 'host all all all trust'
}

# 201 connections of pgbench, one by TLS, one with a wrong password.
connect_as_many_do() {
	lab_reconnect 7 4 50
	PGSSLMODE=require lab_client 8 psql -c 'SELECT 1'
	PGUSER=alice PGPASSWORD=wrong run ! lab_client 9 psql -c 'SELECT 1'
}

trace_version() {
	local file=$LAB_DIR/pg$1.jsonl postmaster
	postmaster=$(start_server "$1" | head -n 1)
	export LAB_PORT=54$1
	[ "$1" -lt 17 ] || add_login_trigger "pg$1"
	lab_trace_start -p "$postmaster" -q -o "$file"
	connect_as_many_do
	lab_trace_wait_conns "$file" 203
	lab_trace_stop
	[[ $(lab_trace_line "$file" start .server_version) == "$1".* ]]
	lab_same 0 "$(lab_trace_line "$file" start '.missing_phases | length')"
	lab_same '203 202 1 0' "$(lab_trace_line "$file" end '[.connections, .ready, .failed, .lost] | join(" ")')"
	lab_trace_adds_up "$file"
	lab_same 202 "$(lab_trace_count "$file" '.outcome == "ready" and .phases_us.hostname > 0')"
	lab_same 1 "$(lab_trace_count "$file" '.within_us.tls > 0 and .within_us.tls <= .phases_us.startup')"
	lab_same 1 "$(lab_trace_count "$file" '.sqlstate == "28P01" and .phase == "auth" and .user == "alice"')"
	lab_pg_stop "pg$1" QUIT
}

# From version 17 on, a trigger runs at each login; here for 10 ms.
add_login_trigger() {
	lab_psql "$1" <<-'SQL'
	CREATE FUNCTION at_login() RETURNS event_trigger LANGUAGE plpgsql AS
		'BEGIN PERFORM pg_sleep(0.01); END';
	CREATE EVENT TRIGGER at_login ON login EXECUTE FUNCTION at_login();
	SQL
}

# The trigger's 10 ms are in `login`, and in no other phase.
login_took_10_ms() {
	lab_same 202 "$(lab_trace_count "$LAB_DIR/pg$1.jsonl" '.phases_us.login >= 10000')"
}

@test "PostgreSQL 13: every connection is told, and its phases add up" {
	trace_version 13
}

@test "PostgreSQL 15: every connection is told, and its phases add up" {
	trace_version 15
}

@test "PostgreSQL 17: every connection is told, and its login trigger has a phase of its own" {
	trace_version 17
	login_took_10_ms 17
}

@test "PostgreSQL 18: every connection is told, and its login trigger has a phase of its own" {
	trace_version 18
	login_took_10_ms 18
}
