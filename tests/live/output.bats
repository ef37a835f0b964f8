# -o FILE and -o -: the rules of files, and what is said of files that are no traces.

setup_file() {
	load ../lab/lab.bash
	lab_begin
	lab_pg_create main
	lab_pg_start main
}

teardown_file() {
	load ../lab/lab.bash
	umount "$LAB_DIR/small" 2>/dev/null || true
	lab_end
}

setup() {
	load ../lab/lab.bash
	TRACE=$BATS_TEST_TMPDIR/trace.jsonl
}

teardown() {
	lab_trace_kill
}

trace() {
	lab_trace_start --pid "$(lab_pg_pid main)" -q "$@"
}

ends() {
	jq -r 'select(.type == "end") | "\(.reason) \(.connections) \(.ready)"' "$1"
}

@test "an existing file is refused, and so is a symlink" {
	echo mine >"$TRACE"
	run -1 "$LAB_ROOT/pgdnstrace" --pid "$(lab_pg_pid main)" -q -o "$TRACE"
	[[ $output == *"$TRACE exists already"* ]]
	[ "$(<"$TRACE")" = mine ]
	ln -s /nowhere/at/all "$TRACE.link"
	run -1 "$LAB_ROOT/pgdnstrace" --pid "$(lab_pg_pid main)" -q -o "$TRACE.link"
}

@test "SIGHUP ends the file that was moved away and begins a new one; sudo's caller owns both" {
	SUDO_UID=12345 SUDO_GID=54321 trace_without_terminal -o "$TRACE"
	lab_reconnect 5 1 9
	lab_trace_wait_conns "$TRACE" 10
	mv "$TRACE" "$TRACE.1"
	kill -HUP "$(lab_trace_pid)"
	wait_for 10 test -s "$TRACE"
	lab_reconnect 5 1 19
	lab_trace_stop
	[ "$(ends "$TRACE.1")" = 'reopened 10 10' ]
	[ "$(ends "$TRACE")" = 'interrupted 20 20' ]
	[ "$(lab_trace_count "$TRACE.1")" = 10 ]
	[ "$(lab_trace_count "$TRACE")" = 20 ]
	[ "$(stat -c '%a %u %g' "$TRACE.1" "$TRACE" | sort -u)" = '600 12345 54321' ]
	"$LAB_ROOT/pgdnstrace" merge "$TRACE" "$TRACE.1" >"$TRACE.both"
	[ "$(ends "$TRACE.both")" = 'merged 30 30' ]
}

# With a terminal of its own a tracer ends on SIGHUP, as its shell's other jobs do.
trace_without_terminal() {
	local base=$LAB_DIR/trace
	: >"$base.err"
	setsid "$LAB_ROOT/pgdnstrace" --pid "$(lab_pg_pid main)" -q "$@" >"$base.out" 2>"$base.err" 3>&- &
	echo $! >"$base.pid"
	wait_for 20 grep -q tracing "$base.err"
}

@test "a full disk is told once, tracing goes on, and the exit code tells" {
	mkdir "$LAB_DIR/small"
	mount -t tmpfs -o size=64k pgdnstrace-small "$LAB_DIR/small"
	trace -o "$LAB_DIR/small/trace.jsonl"
	lab_reconnect 5 4 75
	wait_for 10 grep -q 'No space left on device' "$LAB_DIR/trace.err"
	lab_reconnect 5 1 9
	status=0
	lab_trace_stop || status=$?
	[ "$status" = 1 ]
	[ "$(grep -c 'cannot write' "$LAB_DIR/trace.err")" = 1 ]
	run "$LAB_ROOT/pgdnstrace" replay "$LAB_DIR/small/trace.jsonl"
	[[ $output == *'was cut off'* && $output == *'connections: '* ]]
	umount "$LAB_DIR/small"
}

@test "standard output is the trace alone, and a reader that leaves ends it quietly" {
	lab_reconnect 5 1 100000 3>&- &
	run -0 bash -c '"$1" --pid "$2" -o - 2>"$3" | head -n 3; exit "${PIPESTATUS[0]}"' - \
		"$LAB_ROOT/pgdnstrace" "$(lab_pg_pid main)" "$BATS_TEST_TMPDIR/err"
	mapfile -t clients < <(pgrep -P "$!")
	kill "${clients[@]}" "$!"
	[ "$(jq -r .type <<<"$output" | head -n 2 | xargs)" = 'start conn' ]
	[ "$(wc -l <"$BATS_TEST_TMPDIR/err")" = 1 ] # that it traces
}

# replay FILE: what it says of a file that is none, or no longer whole, or not to be read on.
@test "what is no trace gets one clear message and exit code 1" {
	start='{"type":"start","format":1,"at":"2026-10-02T03:14:00Z","host":"db1"}'
	says '' 'is empty'
	says 'root:x:0:0::/root:/bin/sh' 'is not a trace of pgdnstrace'
	says "$(head -c 3000 /bin/true | tr -d '\0')" 'is not a trace of pgdnstrace'
	says '{"type":"start","format":99}' 'has trace format 99, and this pgdnstrace reads format 1'
	says "$start" 'was cut off'
	says "$start"$'\n''{"type":"conn","at":"2026-10-02T03:14:0' 'was cut off'
	says "$start"$'\n'garbage$'\n' 'line 2, byte 1'
	says "$start"$'\n''{"type":"conn","at":5}'$'\n' 'line 2: field "at"'
	truncate -s 2G "$TRACE.sparse"
	run -1 "$LAB_ROOT/pgdnstrace" replay --text "$TRACE.sparse"
	[[ $output == *'longer than 1 MiB'* ]]
}

says() {
	printf '%s' "$1" >"$TRACE"
	run -1 --separate-stderr "$LAB_ROOT/pgdnstrace" replay --text "$TRACE"
	[ "${#stderr_lines[@]}" = 1 ]
	[[ $stderr == *"$2"* ]]
	rm "$TRACE"
}
