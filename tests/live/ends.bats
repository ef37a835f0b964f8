# How a trace ends: when it is told to, when its server does, when nobody listens any more.

setup_file() {
	load ../lab/lab.bash
	lab_begin
	lab_dns_start
	lab_pg_create main log_hostname=on
	lab_pg_start main
}

teardown_file() {
	load ../lab/lab.bash
	lab_end
}

setup() {
	load ../lab/lab.bash
	TRACE=$BATS_TEST_TMPDIR/trace.jsonl
}

teardown() {
	lab_trace_kill
}

@test "SIGTERM prints the summary and exits with 0" {
	lab_trace_start --pid "$(lab_pg_pid main)" --text
	lab_client 1 psql -c 'SELECT 1'
	lab_trace_stop TERM
	grep -q '^summary: interrupted' "$LAB_DIR/trace.out"
	grep -q '^1 connection: 1 ready' "$LAB_DIR/trace.out"
}

@test "SIGINT ends it also when it was started in the background with SIGINT ignored" {
	# a shell without job control starts background jobs so
	bash -c 'trap "" INT; exec "$@"' - "$LAB_ROOT/pgdnstrace" --pid "$(lab_pg_pid main)" --text \
		>"$LAB_DIR/ignored.out" 2>"$LAB_DIR/ignored.err" 3>&- &
	local pid=$!
	wait_for 20 grep -q tracing "$LAB_DIR/ignored.err"
	kill -INT "$pid"
	wait "$pid"
	grep -q '^summary: interrupted' "$LAB_DIR/ignored.out"
}

@test "a closed pipe ends it quietly with 0" {
	local status
	{ "$LAB_ROOT/pgdnstrace" --pid "$(lab_pg_pid main)" --text -i 1 2>"$LAB_DIR/pipe.err" 3>&-
		echo $? >"$LAB_DIR/pipe.status"; } | head -n 1
	[ "$(<"$LAB_DIR/pipe.status")" = 0 ]
	[ "$(wc -l <"$LAB_DIR/pipe.err")" = 1 ]
}

@test "the end of the duration ends it with 0, and quiet says nothing" {
	run -0 --separate-stderr "$LAB_ROOT/pgdnstrace" --pid "$(lab_pg_pid main)" -q -d 1
	[ -z "$output" ]
}

@test "-o - puts the trace and nothing else on standard output" {
	"$LAB_ROOT/pgdnstrace" --pid "$(lab_pg_pid main)" -d 2 -o - >"$TRACE" 2>/dev/null 3>&- &
	local pid=$!
	wait_for 60 grep -q start "$TRACE"
	lab_client 1 psql -c 'SELECT 1'
	wait "$pid"
	[ "$(jq -r .type "$TRACE" | grep -v tick | xargs)" = 'start conn end' ]
	[ "$(lab_trace_line "$TRACE" end .reason)" = duration ]
}

@test "the trace file is the reader's alone, and its end holds the verdict" {
	lab_trace_start --pid "$(lab_pg_pid main)" -q -o "$TRACE"
	lab_client 1 psql -c 'SELECT 1'
	lab_trace_stop
	[ "$(stat -c %a "$TRACE")" = 600 ]
	[ "$(lab_trace_line "$TRACE" end '.verdict | length > 0')" = true ]
}

@test "replay shows the numbers of the live summary, and says when a file was cut off" {
	lab_trace_start --pid "$(lab_pg_pid main)" --text -o "$TRACE"
	lab_reconnect 2 2 20
	lab_trace_stop
	"$LAB_ROOT/pgdnstrace" replay --text "$TRACE" >"$LAB_DIR/replay.out"
	diff <(sed -n '/^summary/,$p' "$LAB_DIR/trace.out" | grep -E '^[a-z]+ +[0-9]|connections:') \
		<(grep -E '^[a-z]+ +[0-9]|connections:' "$LAB_DIR/replay.out")
	head -n -1 "$TRACE" >"$TRACE.cut"
	run -1 --separate-stderr "$LAB_ROOT/pgdnstrace" replay --text "$TRACE.cut"
	[[ $stderr == *'cut off'* && $output == *'41 connections: 41 ready'* ]]
}

@test "the end of the server ends it with the summary and 5" {
	lab_trace_start --pid "$(lab_pg_pid main)" --text -o "$TRACE"
	lab_client 1 psql -c 'SELECT 1'
	lab_pg_stop main
	lab_trace_wait && return 1 || [ $? = 5 ]
	grep -q '^summary: server ended' "$LAB_DIR/trace.out"
	[ "$(lab_trace_line "$TRACE" end '"\(.reason) \(.connections)"')" = 'server_ended 1' ]
	run -4 "$LAB_ROOT/pgdnstrace" -D "$(lab_pg_home main)/data"
}
