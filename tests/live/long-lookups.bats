# Lookups that take glibc's own five seconds, and a RADIUS server's three.

setup_file() {
	load ../lab/lab.bash
	lab_begin
	lab_dns_start host-record=radius.example,10.42.0.1
	lab_pg_create main log_hostname=on
	lab_pg_start main
}

teardown_file() {
	load ../lab/lab.bash
	lab_end
}

setup() {
	load ../lab/lab.bash
	lab_dns
	lab_resolver
	lab_pg_hba main 'host all all all trust'
	trace=$LAB_DIR/$BATS_TEST_NUMBER.jsonl
}

try() {
	PGPASSWORD=wrong lab_client "$1" psql -Atc 'SELECT 1' >/dev/null 2>&1 || true
}

# Somebody listens at 10.43.0.99 port 53 and never answers.
dead_nameserver() {
	# shellcheck disable=SC2016 # perl's own variables
	lab_in perl -MIO::Socket::INET -e '
		my $sock = IO::Socket::INET->new(Proto => "udp", LocalAddr => "10.43.0.99",
			LocalPort => 53) or die $@;
		open(my $ready, ">", $ARGV[0]);
		sleep 60' "$LAB_DIR/dead" 3>&- &
	wait_for 10 test -e "$LAB_DIR/dead"
}

# The summary, its lines joined.
summary() {
	sed -n '/^summary/,$p' "$LAB_DIR/trace.out" | tr -s '\n ' ' '
}

@test "half of the addresses after 5 s are two humps, and the verdict says so" {
	local n
	lab_dns delay:4900@'^[0-9]*[02468][.]0[.]42[.]10[.]in-addr'
	lab_trace_start -p "$(lab_pg_pid main)" --text -o "$trace"
	for ((n = 1; n <= 20; n++)); do try "$n" & done
	lab_trace_wait_conns "$trace" 20
	lab_trace_stop
	[ "$(lab_trace_count "$trace" '.phases_us.hostname < 2000000')" -eq 10 ]
	[ "$(lab_trace_count "$trace" '.phases_us.hostname > 4800000')" -eq 10 ]
	summary | grep -E ' 4-8s 10 \|'
	summary | grep -E '10 of 20 log_hostname lookups took (4[.]9|5[.][0-9])s, the others [0-9.]+m?u?s[.]'
}

@test "behind a dead nameserver each lookup takes five seconds and finds its name" {
	dead_nameserver
	lab_resolver 'nameserver 10.43.0.99' 'nameserver 127.0.0.1'
	lab_trace_start -p "$(lab_pg_pid main)" --text --dns-packets -o "$trace"
	try 21 &
	try 22 &
	try 23
	lab_trace_wait_conns "$trace" 3
	lab_trace_stop
	[ "$(lab_trace_count "$trace" '.lookups[0].result == "name" and
		.lookups[0].dur_us > 4990000 and .lookups[0].dur_us < 9000000')" -eq 3 ]
	summary | grep 'SILENT NAME SERVER: 10.43.0.99 left 3 of 3 questions unanswered'
	summary | grep '5.0s is 1 unanswered try of 5s (10.43.0.99)'
}

@test "a RADIUS server is a forward lookup by auth" {
	lab_trace_start -p "$(lab_pg_pid main)" -q -o "$trace"
	lab_pg_hba main 'host all all all radius radiusservers="radius.example" radiussecrets="x"'
	try 24
	lab_trace_wait_conns "$trace" 1
	lab_trace_stop
	[ "$(lab_trace_count "$trace" '.outcome == "failed" and .lookups[1].by == "auth" and
		.lookups[1].kind == "forward" and .lookups[1].name == "radius.example" and
		.lookups[1].address == "10.42.0.1"')" -eq 1 ]
}
