# A million connections, made from real ones: every reader in constant memory. Rates are shown, and
# judged by people, since machines differ.

limit_kb=102400

setup_file() {
	load ../lab/lab.bash
	"$LAB_HOME/multiply" "$LAB_ROOT/tests/data/dead_dns.jsonl" 1000000 >"$BATS_FILE_TMPDIR/million.jsonl"
}

setup() {
	load ../lab/lab.bash
	million=$BATS_FILE_TMPDIR/million.jsonl
}

# bounded ARGUMENT...: pgdnstrace with them; standard output goes to $BATS_TEST_TMPDIR/out.
bounded() {
	local began=$EPOCHREALTIME peak
	"$LAB_ROOT/pgdnstrace" "$@" >"$BATS_TEST_TMPDIR/out" 2>"$BATS_TEST_TMPDIR/err" &
	peak=$(peak_kb $!)
	wait $! || { cat "$BATS_TEST_TMPDIR/err"; return 1; }
	echo "# $1: $(awk -v s="$began" -v e="$EPOCHREALTIME" 'BEGIN { printf "%d", 1e6 / (e - s) }') connections/s, ${peak} kB" >&3
	((peak > 0 && peak < limit_kb))
}

# The most memory that a process has had, read until it ends.
peak_kb() {
	local peak=0 now
	while now=$(awk '/^VmHWM/ { print $2 }' "/proc/$1/status" 2>/dev/null) && [[ -n $now ]]; do
		peak=$now
		sleep 0.1
	done
	echo "$peak"
}

@test "a million connections are replayed" {
	bounded replay --text "$million"
	grep -q '^1000000 connections' "$BATS_TEST_TMPDIR/out"
}

@test "a million connections are exported as CSV, a row each" {
	bounded export csv "$million"
	[ "$(wc -l <"$BATS_TEST_TMPDIR/out")" -eq 1000001 ]
}

@test "a million connections are exported as Chrome trace events" {
	bounded export perfetto "$million"
	[ "$(grep -c '"name":"thread_name"' "$BATS_TEST_TMPDIR/out")" -eq 1000000 ]
}

@test "a million connections are exported as OTLP" {
	bounded export otlp "$million"
	[ "$(grep -o '"name":"postgresql connect"' "$BATS_TEST_TMPDIR/out" | wc -l)" -eq 1000000 ]
}

@test "a million connections make a page of a few hundred kB that says what it samples" {
	bounded report "$million"
	[ "$(wc -c <"$BATS_TEST_TMPDIR/out")" -lt 1000000 ]
	grep -q '"dots":{"of":1000000' "$BATS_TEST_TMPDIR/out"
}

@test "a million connections and another trace are merged" {
	bounded merge -o "$BATS_TEST_TMPDIR/merged" "$million" "$LAB_ROOT/tests/data/healthy.jsonl"
	[ "$(grep -c '"type":"conn"' "$BATS_TEST_TMPDIR/merged")" -gt 1000000 ]
}
