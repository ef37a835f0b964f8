# shellcheck shell=bash
# Two clusters of each version, alike but for the executable file: probes on one do not hit the other.

declare -A port_of=([pg15a]=5432 [pg15b]=5433 [pg18a]=5434 [pg18b]=5435)
declare -A children_at_rest

port() {
	echo "${port_of[$1]}"
}

# server_make NAME VERSION [SETTING=VALUE...]
server_make() {
	local name=$1 root=''
	[[ $2 == "$(lab_pg_major)" ]] || root=$("$LAB_HOME/pgroot" "$2")
	shift 2
	LAB_PORT=$(port "$name") LAB_PG_ROOT=$root lab_pg_create "$name" log_hostname=off autovacuum=off \
		max_connections=400 "$@"
	lab_pg_own_executable "$name"
}

lab_pg_major() {
	lab_pg_bin | sed 's|.*/\([0-9]*\)/bin|\1|'
}

server_start() {
	LAB_PORT=$(port "$1") lab_pg_start "$1" >/dev/null
	server_rests "$1"
}

# The helpers of a server start one by one: at rest is what stays for half a second.
server_rests() {
	local pid before='' now=0 same=0
	pid=$(lab_pg_pid "$1")
	while ((same < 5)); do
		sleep 0.1
		now=$(children "$pid")
		if [[ $now == "$before" ]]; then ((same += 1)); else same=0; fi
		before=$now
	done
	children_at_rest[$1]=$now
}

children() {
	local pids
	read -ra pids <"/proc/$1/task/$1/children" || true
	echo "${#pids[@]}"
}

# Backends end after their client has gone, and only then their time counts.
server_settle() {
	wait_for 20 server_settled "$1"
}

server_settled() {
	(($(children "$(lab_pg_pid "$1")") <= children_at_rest[$1]))
}

# on NAME N COMMAND...: run a client of the cluster as client 10.42.0.N.
on() {
	local port
	port=$(port "$1")
	shift
	LAB_PORT=$port lab_client "$@"
}

# sql NAME ARGUMENT...: psql over the unix socket.
sql() {
	LAB_PORT=$(port "$1") lab_psql "$@"
}

# pgbench NAME ARGUMENT...: its report goes to $LAB_DIR/pgbench.out.
bench_client() {
	local name=$1
	shift
	on "$name" 1 pgbench -n "$@" >"$LAB_DIR/pgbench.out" 2>"$LAB_DIR/pgbench.err" || {
		cat "$LAB_DIR/pgbench.err" >&2
		lab_die "pgbench failed: $*"
	}
}

# reported KEY: a figure of the last report: "tps", "latency average", "average connection time", ...
reported() {
	sed -nE "s/^$1(:| =) ([0-9.]+).*/\2/p" "$LAB_DIR/pgbench.out" | tail -n 1
}

# end_background PID: what a function started with & runs, and the shell that waits for it.
end_background() {
	pgrep -P "$1" | xargs -r kill 2>/dev/null || true
	wait "$1" 2>/dev/null || true
}
