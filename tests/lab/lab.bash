# shellcheck shell=bash
# A laboratory on one machine: a network namespace with its own resolver and name server,
# throw-away PostgreSQL clusters, clients of every kind, and the tracer.
# Sourced by the live tests (bats), scripts/demo, scripts/lab and scripts/bench. Needs root.
#
# Everything a lab owns lies in $LAB_DIR and in the namespace $LAB_NS, so that it can be told
# from anything else on the machine, and lab_end leaves nothing behind. Both are exported: a
# lab made in bats' setup_file is there in each test.
#
# Where a contract below says "in the lab", the command runs in the namespace; an empty LAB_NS
# means the host's own network.

LAB_HOME=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
LAB_ROOT=$(cd "$LAB_HOME/../.." && pwd)
LAB_CACHE=${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/pgdnstrace
export LAB_HOME LAB_ROOT LAB_CACHE

# Clients come from 10.42.0.N and fd42::N, the server is reached at 10.43.0.N and fd43::N: the
# route to a server address names the client address with the same N as its source.
readonly lab_clients=250

[[ -z ${BATS_VERSION:-} ]] || bats_require_minimum_version 1.5.0

# shellcheck source=tests/lab/dns.bash
. "$LAB_HOME/dns.bash"
# shellcheck source=tests/lab/cluster.bash
. "$LAB_HOME/cluster.bash"
# shellcheck source=tests/lab/trace.bash
. "$LAB_HOME/trace.bash"

# lab_say TEXT...: tell a person what goes on, on standard error.
lab_say() {
	echo "lab: $*" >&2
}

# lab_die TEXT...: the lab cannot go on.
lab_die() {
	lab_say "$*"
	exit 1
}

# lab_same WANTED FOUND: 1, and both said, when they differ.
lab_same() {
	[[ $1 == "$2" ]] || { printf 'wanted: %s\nfound:  %s\n' "$1" "$2" >&2; return 1; }
}

# wait_for SECONDS COMMAND...: run COMMAND until it succeeds; 1 (and a word why) after SECONDS.
wait_for() {
	local deadline=$((SECONDS + $1 + 1))
	shift
	until "$@" >/dev/null 2>&1; do
		if ((SECONDS >= deadline)); then
			lab_say "waited in vain for: $*"
			return 1
		fi
		sleep 0.05
	done
}

# lab_gone PID: it has ended, whether or not somebody collected its exit status.
lab_gone() {
	! grep -qs '^State:[[:space:]]*[^ZX[:space:]]' "/proc/$1/status"
}

# lab_begin: make the folder and the namespace. Say `trap lab_end EXIT` before it, or call
# lab_end from teardown_file.
lab_begin() {
	((EUID == 0)) || lab_die 'needs root'
	LAB_DIR=$(mktemp -d /tmp/pgdnstrace-lab.XXXXXX)
	LAB_NS=${LAB_DIR##*/}
	export LAB_DIR LAB_NS
	chmod 755 "$LAB_DIR"
	lab_ns_configure
	ip netns add "$LAB_NS"
	ip -n "$LAB_NS" link set lo up
	lab_routes | ip -n "$LAB_NS" -batch -
	lab_routes6 | ip -6 -n "$LAB_NS" -batch -
}

# What `ip netns exec` lays over /etc: a resolver that asks the lab's name server alone.
lab_ns_configure() {
	local etc=/etc/netns/$LAB_NS
	[[ -d /etc/netns ]] || touch "$LAB_DIR/made-etc-netns"
	mkdir -p "$etc"
	{ grep -sv '^hosts:' /etc/nsswitch.conf || true; echo 'hosts: files dns'; } >"$etc/nsswitch.conf"
	echo '127.0.0.1 localhost' >"$etc/hosts"
	lab_resolver
}

# Addresses and routes by which the client's address is chosen (`ip -batch` commands).
lab_routes() {
	local n
	echo 'address add 10.42.0.1/24 dev lo'
	for ((n = 1; n <= lab_clients; n++)); do
		echo "route add local 10.43.0.$n dev lo src 10.42.0.$n table local"
	done
}

lab_routes6() {
	local n
	for ((n = 1; n <= lab_clients; n++)); do
		echo "address add fd42::$n/128 dev lo nodad"
		echo "route add local fd43::$n dev lo src fd42::$n table local"
	done
}

# lab_server N / lab_server6 N: the address at which the server sees client 10.42.0.N / fd42::N.
lab_server() {
	echo "10.43.0.$1"
}

lab_server6() {
	echo "fd43::$1"
}

# lab_in COMMAND...: run COMMAND in the lab, as root.
lab_in() {
	if [[ -n ${LAB_NS:-} ]]; then
		ip netns exec "$LAB_NS" "$@"
	else
		"$@"
	fi
}

# lab_wire KIND N [ARGUMENT...]: one raw connection of client N in the lab (see tests/lab/wire);
# the port is LAB_PORT, 5432 when unset.
lab_wire() {
	local kind=$1 n=$2
	shift 2
	lab_in "$LAB_HOME/wire" "$kind" "$(lab_server "$n")" "${LAB_PORT:-5432}" "$@"
}

# lab_end: stop all that runs in the lab and remove it. Keeps the exit status; harmless twice.
lab_end() {
	local status=$?
	[[ -n ${LAB_DIR:-} && -d $LAB_DIR ]] || return "$status"
	lab_trace_kill
	lab_bpf_stats_restore
	lab_pg_destroy_all
	lab_ns_destroy
	rm -rf --one-file-system "$LAB_DIR"
	[[ -z ${LAB_NS:-} ]] || unset LAB_NS
	unset LAB_DIR
	return "$status"
}

# Kill what is left in the namespace (ours by construction), then remove it.
lab_ns_destroy() {
	local ns=${LAB_DIR##*/}
	wait_for 10 lab_ns_empty "$ns" || true
	ip netns delete "$ns" 2>/dev/null || true
	rm -rf "/etc/netns/$ns"
	[[ ! -e $LAB_DIR/made-etc-netns ]] || rmdir /etc/netns 2>/dev/null || true
}

# A process may fork while it is being killed, so this is asked again until nothing is left.
lab_ns_empty() {
	local pids
	mapfile -t pids < <(ip netns pids "$1" 2>/dev/null)
	((${#pids[@]} > 0)) || return 0
	kill -KILL "${pids[@]}" 2>/dev/null
	return 1
}
