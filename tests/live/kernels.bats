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

# With Linux 6.11 to 6.13 as they were released a return probe has the filter kill the server; Debian's
# 6.12 has the repair. Whatever the tracer found out, the server lives.
@test "kernel 6.12, a server under a seccomp filter is traced and not killed" {
	"$LAB_HOME/vmrun" 6.12 "cd '$LAB_ROOT'; tests/lab/kernel-check / confined" >"$BATS_TEST_TMPDIR/console"
	grep 'return probes are \(not \)\?safe under a seccomp filter' "$BATS_TEST_TMPDIR/console"
	grep '^{' "$BATS_TEST_TMPDIR/console" >"$BATS_TEST_TMPDIR/trace"
	check_trace "$BATS_TEST_TMPDIR/trace"
}

# A root for arm64 with what tests/lab/kernel-check needs, and the tracer built for it in it.
arm64_root() {
	local root=$1
	make -C "$LAB_ROOT" static BUILD=build-arm64 STATIC=build-arm64/pgdnstrace \
		CC=aarch64-linux-gnu-gcc SYSROOT="$("$LAB_HOME/sysroot" arm64)" >&2
	cp -al "$("$LAB_HOME/pgroot" --arch arm64 15 "$LAB_CACHE/pg-15-arm64-tools" bash coreutils \
		grep sed findutils iproute2 procps util-linux mawk)" "$root"
	lab_chroot_prepare "$root"
	mkdir -p "$root/opt/pgdnstrace/tests"
	cp -r "$LAB_HOME" "$root/opt/pgdnstrace/tests/"
	cp "$LAB_ROOT/build-arm64/pgdnstrace" "$root/opt/pgdnstrace/"
}

@test "arm64, kernel 6.1" {
	# next to the cache: its files are linked, not copied
	root=$(mktemp -d "$LAB_CACHE/arm64.XXXXXX")
	rmdir "$root"
	arm64_root "$root"
	"$LAB_HOME/vmrun" --arch arm64 --root "$root" 6.1 "cd /opt/pgdnstrace
		uname -rm
		tests/lab/kernel-check /" >"$BATS_TEST_TMPDIR/console"
	echo "# kernel $(head -n 1 "$BATS_TEST_TMPDIR/console")" >&3
	grep '^{' "$BATS_TEST_TMPDIR/console" >"$BATS_TEST_TMPDIR/trace"
	check_trace "$BATS_TEST_TMPDIR/trace"
}

teardown() {
	[[ -z ${root:-} ]] || rm -rf --one-file-system "$root"
}
