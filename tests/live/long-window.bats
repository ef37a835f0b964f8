# The incident that windows are made for, in full length.

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
}

teardown() {
	lab_trace_kill
}

# Eight clients that come again and again, each with an address of its own.
reconnect_for() {
	local n until=$((SECONDS + $1))
	for n in 11 12 13 14 15 16 17 18; do
		while ((SECONDS < until)); do
			PGCONNECT_TIMEOUT=30 lab_client "$n" psql -c 'SELECT 1' >/dev/null 2>&1
			sleep 0.2
		done 3>&- &
	done
}

@test "20 s without DNS in a run of 90 s leave one window with every connection of its span" {
	local all=$BATS_TEST_TMPDIR/all.jsonl
	LAB_TRACE=second lab_trace_start --pid "$(lab_pg_pid main)" -q -o "$all"
	lab_trace_start --pid "$(lab_pg_pid main)" -q -d 90s --dir "$DIR" --on 'oldest>2s' --before 20s --after 20s
	reconnect_for 85
	sleep 25
	lab_dns drop
	sleep 20
	lab_dns
	lab_trace_wait
	LAB_TRACE=second lab_trace_stop

	[ "$(find "$DIR" -type f | wc -l)" = 1 ]
	file=$(window)
	[ "$(lab_trace_line "$file" end .reason)" = window ]
	[ "$(lab_trace_line "$file" in_setup .phase | grep -c hostname)" -ge 1 ]
	[ "$(lab_trace_count "$file" '.phases_us.hostname > 2e6')" -ge 8 ]
	lab_trace_adds_up "$file"
	from=$(second_of "$file" start 0.1) to=$(second_of "$file" end -0.3)
	(($(sessions "$file" "$from" "$to" | wc -l) > 100))
	diff <(sessions "$file" "$from" "$to") <(sessions "$all" "$from" "$to")
}
