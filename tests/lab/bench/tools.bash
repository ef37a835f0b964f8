# shellcheck shell=bash
# What connections are made under: tool_start NAME TOOL VERSION, tool_stop NAME TOOL VERSION. tool_pid
# is the process whose CPU time is the tool's own; empty: none.

tool_start() {
	tool_pid=''
	case $2 in
	none) ;;
	pgdnstrace) lab_trace_start -q -p "$(lab_pg_pid "$1")"; tool_pid=$(lab_trace_pid) ;;
	'pgdnstrace -o')
		rm -f "$LAB_DIR/bench.jsonl"
		lab_trace_start -q -o "$LAB_DIR/bench.jsonl" -p "$(lab_pg_pid "$1")"
		tool_pid=$(lab_trace_pid)
		;;
	bpftrace) tool_run '^attached' "${bpftrace_command[@]}" "$(bpftrace_file "$1" "$3")" ;;
	'strace -f') tool_run 'attached' strace -f -qqq -ttt -T -p "$(lab_pg_pid "$1")" -o "$LAB_DIR/strace.out" ;;
	log_connections) logging_on "$1" "$3" ;;
	esac
}

tool_stop() {
	case $2 in
	none) ;;
	pgdnstrace*)
		lab_trace_stop INT
		wait_for 30 probes_gone
		;;
	log_connections) lab_pg_set "$1" 'log_connections = off' 'log_disconnections = off' ;;
	*)
		wait_for 10 tool_gone TERM "$tool_pid" || kill -KILL "$tool_pid"
		wait "$tool_pid" 2>/dev/null || true
		rm -f "$LAB_DIR/tool.pid" "$LAB_DIR/strace.out"
		;;
	esac
}

# probes_gone: a process of the tracer's goes on detaching after its end; it has no command line any
# more, but is in our process group, which tells it from other tracers'.
probes_gone() {
	! pgrep -g 0 -x pgdns-detach >/dev/null
}

# tool_gone SIGNAL PID: told so until it is gone: bpftrace 0.17 now and then ignores a signal.
tool_gone() {
	lab_gone "$2" && return
	kill "-$1" "$2" 2>/dev/null
	sleep 0.1
	lab_gone "$2"
}

# tool_run PATTERN COMMAND...: in the background until it says so, or is seen to trace.
tool_run() {
	local pattern=$1
	shift
	"$@" >"$LAB_DIR/tool.out" 2>&1 3>&- &
	tool_pid=$!
	echo "$tool_pid" >"$LAB_DIR/tool.pid"
	wait_for 60 tool_runs "$pattern" || tool_failed
}

tool_failed() {
	cat "$LAB_DIR/tool.out" >&2
	wait_for 10 tool_gone TERM "$tool_pid" || kill -KILL "$tool_pid"
	rm -f "$LAB_DIR/tool.pid"
	return 1
}

tool_runs() {
	grep -q "$1" "$LAB_DIR/tool.out" || grep -qs "^TracerPid:[[:space:]]*$tool_pid\$" /proc/[0-9]*/status
}

# Everything that the server's own log can tell about connections.
logging_on() {
	local value=on
	(($2 < 18)) || value="'all'"
	lab_pg_set "$1" "log_connections = $value" 'log_disconnections = on'
}
