# shellcheck shell=bash
# Start and end: when probes are attached, when the first connection is told, when all is gone.

# until_line PATTERN COMMAND...: milliseconds until it prints such a line (both outputs), into
# line_ms; it goes on as $line_pid, its output in descriptor line_fd.
until_line() {
	local pattern=$1 from line
	shift
	from=$(now_us)
	exec {line_fd}< <(exec "$@" 2>&1)
	line_pid=$!
	while IFS= read -r line <&"$line_fd"; do
		[[ ! $line =~ $pattern ]] || break
	done
	line_ms=$(calc "($(now_us) - $from) / 1000" %.0f)
}

# until_end SIGNAL: milliseconds from the signal to the end of the process; with a PATTERN: to that line. ended_us is when it was sent.
until_end() {
	local from pattern=${2:-} line
	from=$(now_us) ended_us=$from
	kill "-$1" "$line_pid"
	if [[ -n $pattern ]]; then
		while IFS= read -r line <&"$line_fd"; do [[ ! $line =~ $pattern ]] || break; done
		summary_ms=$(calc "($(now_us) - $from) / 1000" %.0f)
	fi
	drain <&"$line_fd" &
	wait_for 30 end_seen "$1"
	exec {line_fd}<&-
	end_ms=$(calc "($(now_us) - $from) / 1000" %.0f)
}

drain() {
	cat >/dev/null
}

# bpftrace is told more than once.
end_seen() {
	[[ $1 != TERM ]] || { tool_gone TERM "$line_pid"; return; }
	lab_gone "$line_pid"
}

# Connections all the time, so that there is one to be told.
reconnect_all_the_time() {
	on pg15a 3 pgbench -n -C -c 1 -T 600 -f "$LAB_DIR/select.sql" >/dev/null 2>&1 3>&- &
	reconnect_pid=$!
}

part_start() {
	local i=0 pid ours="$LAB_ROOT/pgdnstrace" reconnect_pid
	local -A ms=()
	lab_say 'start and end'
	pid=$(lab_pg_pid pg15a)
	reconnect_all_the_time
	while ((i++ < turns)); do
		until_line '^pgdnstrace: tracing' "$ours" --text -p "$pid"
		ms[ours]+="$line_ms "
		sleep 0.5
		until_end INT 'connections:'
		ms[summary]+="$summary_ms " ms[ours_end]+="$end_ms "
		wait_for 30 probes_gone
		ms[ours_gone]+="$(calc "($(now_us) - $ended_us) / 1000" %.0f) "
		until_line '"type":"conn"' "$ours" -q -o - -p "$pid"
		ms[ours_first]+="$line_ms "
		until_end INT
		wait_for 30 probes_gone
		until_line '^record' "${bpftrace_command[@]}" "$(bpftrace_file pg15a 15)"
		ms[bt_first]+="$line_ms "
		until_end TERM
		ms[bt_end]+="$end_ms "
	done
	end_background "$reconnect_pid"
	server_settle pg15a
	head_line "Start and end, ms (medians of $turns)"
	row 'pgdnstrace: from start to attached' "$(of "${ms[ours]}")"
	row 'pgdnstrace: from start to the first connection' "$(of "${ms[ours_first]}")" 'in the file'
	row 'pgdnstrace: from SIGINT to the summary' "$(of "${ms[summary]}")"
	row 'pgdnstrace: from SIGINT to its end' "$(of "${ms[ours_end]}")"
	row 'pgdnstrace: until its last probe is gone' "$(of "${ms[ours_gone]}")" 'behind its end'
	row 'bpftrace: from start to the first connection' "$(of "${ms[bt_first]}")"
	row 'bpftrace: from SIGTERM to its end' "$(of "${ms[bt_end]}")"
}

# of NUMBERS: their median.
of() {
	tr ' ' '\n' <<<"$1" | grep . | median %.0f
}
