# A server in other namespaces, as in a container: it is told as one outside, and two servers with the
# same port in two networks are kept apart.

setup_file() {
	load ../lab/lab.bash
	lab_begin
	INNER_NS=$LAB_NS.inner
	container_id=$(od -An -t x1 -N 32 /dev/urandom | tr -d ' \n')
	export INNER_NS container_id
	ip netns add "$INNER_NS"
	ip -n "$INNER_NS" link set lo up
	lab_pg_create outer "${settings[@]}"
	lab_pg_start outer
	lab_pg_user outer alice secret
	lab_pg_hba outer "${rules[@]}"
	start_inner
}

readonly settings=(log_hostname=on cluster_name=outer autovacuum=off)
readonly rules=('host all alice all scram-sha-256' 'host all all all trust')

# User, PID, network, mount and UTS namespaces of its own; a cgroup named as Docker names them.
start_inner() {
	lab_pg_create inner "${settings[@]}" cluster_name=inner
	lab_pg_hba inner "${rules[@]}"
	rm "$LAB_DIR/inner.cluster" # its postmaster.pid says 1: nobody but this test may stop it
	use_group
	# shellcheck disable=SC2016 # expanded by the inner shell
	ip netns exec "$INNER_NS" setpriv --reuid=postgres --regid=postgres --init-groups \
		unshare --user --map-current-user --keep-caps --pid --fork --mount-proc --uts --kill-child \
		sh -c 'hostname inner.example; exec "$0"/postgres -D "$1"' \
		"$(lab_pg_bin)" "$LAB_DIR/inner/data" >"$LAB_DIR/inner.log" 2>&1 3>&- &
	echo $! >"$LAB_DIR/inner.parent"
	leave_group
	wait_for 20 grep -q 'ready to accept' "$LAB_DIR/inner.log"
	psql -h "$LAB_DIR/inner" -U postgres -qc "SET password_encryption = 'scram-sha-256'" \
		-c "CREATE ROLE alice LOGIN PASSWORD 'secret'" postgres
}

# Whoever is started meanwhile begins its life in that group. Mounted anew, wherever the host has it.
use_group() {
	mkdir "$LAB_DIR/cgroup"
	mount -t cgroup2 cgroup2 "$LAB_DIR/cgroup"
	mkdir "$(group)"
	sed -n 's/^0:://p' /proc/self/cgroup >"$LAB_DIR/group.before"
	echo $BASHPID >"$(group)/cgroup.procs"
}

group() {
	echo "$LAB_DIR/cgroup/docker-$container_id.scope"
}

leave_group() {
	echo $BASHPID >"$LAB_DIR/cgroup$(<"$LAB_DIR/group.before")/cgroup.procs"
}

teardown_file() {
	load ../lab/lab.bash
	kill "$(<"$LAB_DIR/inner.parent")" || true
	wait_for 10 lab_ns_empty "$INNER_NS"
	ip netns delete "$INNER_NS"
	wait_for 10 rmdir "$(group)"
	umount "$LAB_DIR/cgroup"
	lab_end
}

setup() {
	load ../lab/lab.bash
	inner_pid=$(cut -d ' ' -f 1 "/proc/$(<"$LAB_DIR/inner.parent")/task/$(<"$LAB_DIR/inner.parent")/children")
}

teardown() {
	lab_trace_kill
}

# in_ns NS COMMAND...: as a client of the server there, without TLS.
in_ns() {
	ip netns exec "$1" env PATH="$(lab_pg_bin):$PATH" PGHOST=127.0.0.1 PGUSER="${PGUSER:-postgres}" \
		PGDATABASE="${PGDATABASE:-postgres}" PGSSLMODE=disable PSQLRC=/dev/null "${@:2}"
}

# connect NS: seven connections, five of which come to nothing.
connect() {
	in_ns "$1" psql -Atc 'SELECT pg_backend_pid()' >"$LAB_DIR/pid.$1"
	in_ns "$1" pgbench -n -t 1 -f <(echo 'SELECT 1;') >/dev/null
	! PGDATABASE=nowhere in_ns "$1" psql
	! PGUSER=alice PGPASSWORD=wrong in_ns "$1" psql
	ip netns exec "$1" "$LAB_HOME/wire" probe 127.0.0.1 5432
	ip netns exec "$1" "$LAB_HOME/wire" cancel 127.0.0.1 5432
	ip netns exec "$1" "$LAB_HOME/wire" http 127.0.0.1 5432 >/dev/null
}

# What is the same of the same connection wherever the server runs.
facts() {
	jq -c 'select(.type == "conn") | {client, user, database, application, outcome, sqlstate,
		phase: (if .outcome == "ready" then null else .phase end), phases: (.phases_us | keys),
		lookup_count, lookups: [.lookups[]? | del(.at_us, .dur_us)]}' "$1" | sort
}

@test "two servers on port 5432 in two networks are kept apart, and told the same" {
	LAB_TRACE=outer lab_trace_start -p "$(lab_pg_pid outer)" -q -o "$LAB_DIR/outer.jsonl"
	LAB_TRACE=inner lab_trace_start -p "$inner_pid" -q -o "$LAB_DIR/inner.jsonl"
	connect "$LAB_NS"
	connect "$INNER_NS"
	for trace in outer inner; do
		# pgbench makes two
		lab_trace_wait_conns "$LAB_DIR/$trace.jsonl" 8
		LAB_TRACE=$trace lab_trace_stop
		lab_same 8 "$(lab_trace_line "$LAB_DIR/$trace.jsonl" end .connections)"
		lab_trace_adds_up "$LAB_DIR/$trace.jsonl"
		lab_same 8 "$(lab_trace_count "$LAB_DIR/$trace.jsonl" .wait_us)"
	done
	diff <(facts "$LAB_DIR/outer.jsonl") <(facts "$LAB_DIR/inner.jsonl")
}

first_conn() {
	jq -r "select(.type == \"conn\") | $2" "$LAB_DIR/$1.jsonl" | head -n 1
}

@test "the pid is the server's own, and the host's stands beside it where it differs" {
	lab_same "$(<"$LAB_DIR/pid.$LAB_NS")" "$(first_conn outer .pid)"
	lab_same "$(<"$LAB_DIR/pid.$INNER_NS")" "$(first_conn inner .pid)"
	lab_same null "$(first_conn outer .host_pid)"
	[ "$(first_conn inner .host_pid)" -gt "$(first_conn inner .pid)" ]
}

@test "the container, its host and its cluster are named" {
	lab_same "docker:${container_id:0:12} inner.example inner" \
		"$(lab_trace_line "$LAB_DIR/inner.jsonl" start '"\(.container) \(.host) \(.cluster_name)"')"
	lab_same null "$(lab_trace_line "$LAB_DIR/outer.jsonl" start .container)"
}
