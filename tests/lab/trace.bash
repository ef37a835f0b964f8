# shellcheck shell=bash
# pgdnstrace in the background. LAB_TRACE names a run ("trace" when unset), so that several
# can be told apart; its output is in $LAB_DIR/NAME.out and NAME.err.

# lab_trace_start ARGUMENT...: start pgdnstrace and wait until its probes are attached.
lab_trace_start() {
	local base=$LAB_DIR/${LAB_TRACE:-trace}
	: >"$base.err" # what an earlier run said must not count
	"$LAB_ROOT/pgdnstrace" "$@" >"$base.out" 2>"$base.err" 3>&- &
	echo $! >"$base.pid"
	if ! wait_for 60 lab_trace_attached "$base"; then
		cat "$base.err" >&2
		return 1
	fi
	grep -q tracing "$base.err" || { cat "$base.err" >&2; return 1; }
}

# Attached, or over already.
lab_trace_attached() {
	grep -q tracing "$1.err" || lab_gone "$(<"$1.pid")"
}

# lab_trace_pid: the PID of the tracer.
lab_trace_pid() {
	cat "$LAB_DIR/${LAB_TRACE:-trace}.pid"
}

# lab_trace_stop [SIGNAL]: end it (INT), wait, return its exit status. Call it from the shell
# that started it.
lab_trace_stop() {
	local pid status=0
	pid=$(lab_trace_pid)
	kill "-${1:-INT}" "$pid" 2>/dev/null || true
	lab_trace_wait || status=$?
	return "$status"
}

# lab_trace_wait: wait for its end, return its exit status.
lab_trace_wait() {
	local status=0
	wait "$(lab_trace_pid)" || status=$?
	rm -f "$LAB_DIR/${LAB_TRACE:-trace}.pid"
	return "$status"
}

# lab_trace_runs: how often the tracer's uprobe programs on the server's executable have run; those
# on libraries are left out, which other processes of the host hit too. Needs lab_bpf_stats.
lab_trace_runs() {
	local ids
	ids=$(cat "/proc/$(lab_trace_pid)/fdinfo"/* 2>/dev/null | awk '/^prog_id:/ { print $2 }' | jq -s 'unique')
	"$(command -v bpftool || echo /usr/sbin/bpftool)" -j prog show | jq --argjson ids "$ids" '
		[.[] | select(.type == "kprobe" and (.id | IN($ids[])) and
			(.name | test("getaddrinfo|ldap|pam") | not)) | .run_cnt // 0] | add'
}

# lab_bpf_stats: have the kernel count program runs, until the end of the lab. Labs side by side
# share the setting: the first keeps what it was, the last puts it back.
lab_bpf_stats() {
	lab_bpf_stats_locked enter
}

lab_bpf_stats_restore() {
	[[ ! -e $lab_stats/${LAB_DIR##*/} ]] || lab_bpf_stats_locked leave
}

readonly lab_stats=/run/pgdnstrace-lab-stats

lab_bpf_stats_locked() (
	local setting=/proc/sys/kernel/bpf_stats_enabled
	mkdir -p "$lab_stats"
	exec 8<"$lab_stats"
	flock 8
	if [[ $1 == enter ]]; then
		[[ -e $lab_stats/was ]] || cp "$setting" "$lab_stats/was"
		touch "$lab_stats/${LAB_DIR##*/}"
		echo 1 >"$setting"
		return
	fi
	rm -f "$lab_stats/${LAB_DIR##*/}"
	[[ $(ls "$lab_stats") == was ]] || return 0
	cat "$lab_stats/was" >"$setting"
	rm -f "$lab_stats/was"
)

# End every tracer that is still running.
lab_trace_kill() {
	local file pid
	for file in "$LAB_DIR"/*.pid; do
		[[ -s $file ]] || continue
		pid=$(<"$file")
		kill -TERM "$pid" 2>/dev/null || continue
		wait_for 10 lab_gone "$pid" || kill -KILL "$pid" 2>/dev/null || true
	done
}

# lab_trace_wait_conns FILE N: wait until a growing trace holds N connections (it is written about
# every second, and a connection that fails is over some time after its client has gone).
lab_trace_wait_conns() {
	wait_for 30 lab_trace_holds "$1" "$2"
}

lab_trace_holds() {
	(($(grep -c '"type":"conn"' "$1") >= $2))
}

# lab_trace_count FILE [CONDITION]: how many connections in a trace meet a jq CONDITION.
lab_trace_count() {
	jq -n "[inputs | select(.type == \"conn\") | select(${2:-true})] | length" "$1"
}

# lab_trace_line FILE TYPE FILTER: what a jq FILTER says of each line of that type.
lab_trace_line() {
	jq -r --arg type "$2" "select(.type == \$type) | $3" "$1"
}

# lab_trace_adds_up FILE: 1, and the offenders, unless the phases of every ready connection add
# up to its total to the nanosecond, and all connections are accounted for.
lab_trace_adds_up() {
	local wrong
	wrong=$(jq -c 'def ns: . * 1000 | round;
		if .type == "conn" and .outcome == "ready" then
			select(([.phases_us | del(.queue)[] | ns] | add) != (.total_us | ns))
		elif .type == "end" then
			select(.connections != .ready + .gave_up + .failed + .closed + .cancel + .killed +
				.in_setup + .lost)
		else empty end' "$1")
	[[ -z $wrong ]] || { echo "does not add up: $wrong" >&2; return 1; }
}
