# Incident windows: the minutes that matter are in a file by the time somebody looks.

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
	load ../lab/window.bash
	DIR=$BATS_TEST_TMPDIR/windows
	mkdir "$DIR"
	lab_dns
	lab_resolver
}

teardown() {
	LAB_TRACE=second lab_trace_kill
	lab_dns
}

trace() {
	lab_trace_start --pid "$(lab_pg_pid main)" -q --dir "$DIR" --before 3s --after 2s "$@"
}

@test "a dead name server leaves one window with every connection of its span, the stuck ones too" {
	lab_resolver 'options timeout:3 attempts:1'
	LAB_TRACE=second lab_trace_start --pid "$(lab_pg_pid main)" -q -o "$BATS_TEST_TMPDIR/all.jsonl"
	trace --on 'oldest>1s'
	lab_reconnect 5 1 20
	lab_dns drop
	for n in 11 12 13 14; do
		lab_client "$n" psql -c 'SELECT 1' >/dev/null 3>&- &
	done
	wait_for 10 being_written
	wait_for 10 lab_trace_holds "$BATS_TEST_TMPDIR/all.jsonl" 25
	lab_dns
	lab_reconnect 5 1 20
	wait_for 20 window
	kill -INT "$(LAB_TRACE=second lab_trace_pid)" # both detach at the same time
	lab_trace_stop
	LAB_TRACE=second lab_trace_wait

	[ "$(find "$DIR" -type f | wc -l)" = 1 ]
	file=$(window)
	[ "$(lab_trace_line "$file" trigger '"\(.condition) \(.value > 1 and .value < 4) \(.cut_off)"')" = 'oldest>1s true 0' ]
	[ "$(lab_trace_line "$file" in_setup .phase | sort -u)" = hostname ]
	[ "$(lab_trace_count "$file" '.phases_us.hostname > 2e6 and .lookups[0].code == -3')" = 4 ]
	[ "$(lab_trace_count "$file" '.phases_us.hostname < 1e6')" -ge 20 ]
	[ "$(lab_trace_line "$file" start '"\(.settings.log_hostname) \(.resolver.nameservers[0])"')" = 'true 127.0.0.1' ]
	lab_trace_adds_up "$file"
	from=$(second_of "$file" start 0.1) to=$(second_of "$file" end -0.3)
	[ -n "$(sessions "$file" "$from" "$to")" ]
	diff <(sessions "$file" "$from" "$to") <(sessions "$BATS_TEST_TMPDIR/all.jsonl" "$from" "$to")
}

@test "SIGUSR1 writes a window by hand and says where; the end of the trace makes an open one whole" {
	trace
	lab_client 5 psql -c 'SELECT 1'
	kill -USR1 "$(lab_trace_pid)"
	wait_for 10 window
	file=$(window)
	kill -USR1 "$(lab_trace_pid)"
	wait_for 10 being_written
	lab_trace_stop
	[ "$(lab_trace_line "$file" trigger '"\(.condition) \(has("value"))"')" = 'by hand false' ]
	[ "$(lab_trace_count "$file")" = 1 ]
	grep -F "incident window written: $file" "$LAB_DIR/trace.err"
	[ "$(find "$DIR" -type f | wc -l)" = 2 ]
	[ "$(jq -r 'select(.type == "end") | .reason' "$DIR"/*.jsonl | xargs)" = 'window interrupted' ]
}

@test "SIGKILL leaves the earlier windows whole and the partial one recognisable" {
	trace --on 'total>0'
	lab_client 5 psql -c 'SELECT 1'
	wait_for 10 window
	lab_client 5 psql -c 'SELECT 1'
	wait_for 10 being_written
	flushed() { grep -q trigger "$DIR"/*.partial; }
	wait_for 10 flushed
	lab_trace_stop KILL || true
	run -0 "$LAB_ROOT/pgdnstrace" replay "$(window)"
	[[ $output == *'1 connection'* && $output != *'cut off'* ]]
	partial=("$DIR"/*.partial)
	[ "${#partial[@]}" = 1 ]
	run "$LAB_ROOT/pgdnstrace" replay "${partial[0]}"
	[[ $output == *'was cut off'* ]]
	[[ $output == *'connection'* ]]
}

@test "a folder that cannot be written to is told at the start" {
	run -1 "$LAB_ROOT/pgdnstrace" --pid "$(lab_pg_pid main)" -q --on 'dns>1s' --dir "$DIR/none"
	[[ $output == *"cannot write incident windows in $DIR/none: No such file or directory"* ]]
}

@test "a mistake in a condition is told with its place" {
	run -2 "$LAB_ROOT/pgdnstrace" --on 'wait.p99>slow'
	[[ $output == *"'wait.p99>slow', position 10: expected a duration"* ]]
}
