# A minute at the highest rate this machine reaches, up to 300 connections a second.

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
}

teardown() {
	lab_trace_kill
}

# CPU time of the tracer so far, in clock ticks.
ticks() {
	awk '{ print $14 + $15 }' "/proc/$(lab_trace_pid)/stat"
}

@test "a minute of connections loses none, and costs below 20 MB and 2 % of a core" {
	local made before used
	echo 'SELECT 1;' >"$BATS_TEST_TMPDIR/select.sql"
	lab_trace_start --pid "$(lab_pg_pid main)" --text -o "$BATS_TEST_TMPDIR/trace.jsonl"
	before=$(ticks)
	lab_client 5 pgbench -n -C -c 8 -T 60 -R 300 -f "$BATS_TEST_TMPDIR/select.sql" >"$BATS_TEST_TMPDIR/pgbench.out"
	used=$(($(ticks) - before))
	grep VmRSS "/proc/$(lab_trace_pid)/status"
	[ "$(awk '/VmRSS/ { print $2 }' "/proc/$(lab_trace_pid)/status")" -lt 20480 ]
	lab_trace_stop
	made=$(sed -n 's/^number of transactions actually processed: \([0-9]*\).*/\1/p' "$BATS_TEST_TMPDIR/pgbench.out")
	echo "$made connections, $used ticks of 10 ms"
	[ "$(lab_trace_line "$BATS_TEST_TMPDIR/trace.jsonl" end .lost)" = 0 ]
	[ "$(lab_trace_count "$BATS_TEST_TMPDIR/trace.jsonl" '.outcome == "ready"')" -ge $((made + 1)) ]
	lab_trace_adds_up "$BATS_TEST_TMPDIR/trace.jsonl"
	# 60 s are 6000 ticks
	[ "$used" -le 120 ]
}
