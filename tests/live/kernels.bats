# Other kernels, emulated (tests/lab/vmrun): 20 connections to PostgreSQL 15 and 18 under each.
# Counts, outcomes and sums are looked at, never times. Run by scripts/test --kernels.

setup_file() {
	load ../lab/lab.bash
	server18=$("$LAB_HOME/pgroot" 18)
	export server18
}

setup() {
	load ../lab/lab.bash
}

# One boot: both servers' traces, each after a line with its name.
check_kernel() {
	local console=$BATS_TEST_TMPDIR/console server
	"$LAB_HOME/vmrun" "$1" "cd '$LAB_ROOT'
		uname -r
		for root in / '$server18'; do
			echo \"server \$root\"
			tests/lab/kernel-check \$root
		done" >"$console"
	echo "# kernel $(head -n 1 "$console")" >&3
	for server in / "$server18"; do
		trace_of "$server" "$console" >"$BATS_TEST_TMPDIR/trace"
		check_trace "$BATS_TEST_TMPDIR/trace"
	done
}

trace_of() {
	awk -v wanted="server $1" '/^server / { on = $0 == wanted; next } on && /^{/' "$2"
}

check_trace() {
	lab_same '20 12 4 2 1 1 0 0 0' "$(lab_trace_line "$1" end '[.connections, .ready, .failed,
		.closed, .cancel, .gave_up, .killed, .in_setup, .lost] | join(" ")')"
	lab_trace_adds_up "$1"
	lab_same 0 "$(lab_trace_line "$1" start '.missing_phases | length')"
	lab_same 2 "$(lab_trace_count "$1" '.sqlstate == "28P01"')"
	lab_same 1 "$(lab_trace_count "$1" '.sqlstate == "3D000"')"
	lab_same 1 "$(lab_trace_count "$1" '.lookups[0].name == "client-7.example"')"
}

@test "kernel 5.10" {
	check_kernel 5.10
}

@test "kernel 6.1" {
	check_kernel 6.1
}

@test "kernel 6.12" {
	check_kernel 6.12
}

@test "kernel 7.x" {
	check_kernel 7.x
}
