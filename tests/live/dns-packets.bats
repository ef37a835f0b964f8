# --dns-packets: what each nameserver does, seen on the wire of the server's own network namespace.

setup_file() {
	load ../lab/lab.bash
	lab_begin
	lab_dns_start
	dead_nameserver
	lab_resolver 'nameserver 10.43.0.99' 'nameserver 127.0.0.1' 'options timeout:1 attempts:1'
	lab_pg_create main log_hostname=on
	lab_pg_start main
	lab_trace_start -p "$(lab_pg_pid main)" --dns-packets --text -i 1 -o "$LAB_DIR/trace.jsonl"
}

teardown_file() {
	load ../lab/lab.bash
	lab_end
}

setup() {
	load ../lab/lab.bash
	lab_dns
}

# Somebody listens at 10.43.0.99 port 53 and never answers.
dead_nameserver() {
	# shellcheck disable=SC2016 # perl's own variables
	lab_in perl -MIO::Socket::INET -e '
		my $sock = IO::Socket::INET->new(Proto => "udp", LocalAddr => "10.43.0.99",
			LocalPort => 53) or die $@;
		open(my $ready, ">", $ARGV[0]);
		sleep 600' "$LAB_DIR/dead" 3>&- &
	wait_for 10 test -e "$LAB_DIR/dead"
}

# says CLIENT CONDITION: a jq CONDITION holds for the one connection from that address.
says() {
	wait_for 20 grep -q "^{\"type\":\"conn\".*\"client\":\"$1\"" "$LAB_DIR/trace.jsonl"
	jq -e --arg client "$1" "select(.type == \"conn\" and .client == \$client) | $2" "$LAB_DIR/trace.jsonl"
}

# The newest line of a nameserver in the text view: queries, answers, unanswered, retries.
row() {
	awk -v server="$1" '$1 == server { line = $2 " " $3 " " $4 " " $5 } END { print line }' \
		"$LAB_DIR/trace.out"
}

row_is() {
	[[ $(row "$1") == "$2" ]]
}

@test "a lookup names the nameserver that was silent and the one that answered" {
	lab_client 7 psql -Atc 'SELECT 1'
	says 10.42.0.7 '.lookups[0] | .question_count == 2 and
		.questions[0].nameserver == "10.43.0.99" and (.questions[0] | has("rcode") | not) and
		.questions[1].nameserver == "127.0.0.1" and .questions[1].rcode == "NOERROR" and
		.questions[1].rtt_us > 0 and .questions[1].at_us >= 990000'
}

@test "the view names the dead nameserver" {
	wait_for 20 row_is 10.43.0.99 '1 0 1 0'
	wait_for 20 row_is 127.0.0.1 '1 1 0 0'
}

@test "two clients of one address at a time each get their own questions" {
	lab_client 8 psql -Atc 'SELECT 1' &
	lab_client 8 psql -Atc 'SELECT 1'
	wait
	wait_for 20 both_told
	[ "$(jq -c 'select(.type == "conn" and .client == "10.42.0.8") |
		[.lookups[0].questions[].nameserver]' "$LAB_DIR/trace.jsonl")" = \
		'["10.43.0.99","127.0.0.1"]
["10.43.0.99","127.0.0.1"]' ]
}

both_told() {
	(($(grep -c '"client":"10.42.0.8"' "$LAB_DIR/trace.jsonl") == 2))
}

@test "a refusal and an unknown zone are told by their codes" {
	lab_dns refused@'^9[.]0[.]42'
	lab_client 9 psql -Atc 'SELECT 1'
	lab_client6 240 psql -Atc 'SELECT 1'
	says 10.42.0.9 '[.lookups[0].questions[].rcode] == [null, "REFUSED"]'
	says fd42::240 '[.lookups[0].questions[].rcode] == [null, "NXDOMAIN"]'
}

@test "questions by TCP are seen too" {
	lab_resolver 'nameserver 127.0.0.1' 'options use-vc'
	lab_client 10 psql -Atc 'SELECT 1'
	says 10.42.0.10 '.lookups[0].questions | length == 1 and .[0].rcode == "NOERROR"'
}

@test "the trace keeps what the nameservers did, and a replay shows it" {
	lab_resolver 'nameserver 127.0.0.1'
	kill -INT "$(lab_trace_pid)"
	wait_for 20 grep -q '^{"type":"end"' "$LAB_DIR/trace.jsonl"
	jq -se 'map(select(.type == "dns")) | last | .lost == 0 and
		(.nameservers[] | select(.nameserver == "10.43.0.99") |
			.queries == 5 and .answers == 0 and .unanswered == 5 and has("rtt_us") == false) and
		(.nameservers[] | select(.nameserver == "127.0.0.1") |
			.queries == 6 and .answers == 6 and
			.rcodes == {"NOERROR": 4, "NXDOMAIN": 1, "REFUSED": 1} and
			([.rtt_us.bins[]] | add) == .rtt_us.count)' "$LAB_DIR/trace.jsonl"
	"$LAB_ROOT/pgdnstrace" replay --text "$LAB_DIR/trace.jsonl" | grep -E '^10\.43\.0\.99 +5 +0 +5 +0'
}
