# Every name resolution of a connection's setup: who asked, what came back, how long it took. One
# tracer watches the whole file; each test has clients of its own.

setup_file() {
	load ../lab/lab.bash
	lab_begin
	pam_permit
	lab_dns_start ptr-record=201.0.42.10.in-addr.arpa,client-9.example \
		host-record=directory.example,10.42.0.1
	lab_pg_create main log_hostname=on
	lab_pg_start main
	lab_trace_start -p "$(lab_pg_pid main)" -q -o "$LAB_DIR/trace.jsonl"
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
}

# A PAM service "permit" in the lab that lets everyone in.
pam_permit() {
	mkdir "/etc/netns/$LAB_NS/pam.d"
	printf '%s\n' 'auth required pam_permit.so' 'account required pam_permit.so' \
		>"/etc/netns/$LAB_NS/pam.d/permit"
}

# try N: client N asks for one thing; whether it is let in is for the test to say.
try() {
	PGPASSWORD=wrong lab_client "$1" psql -Atc 'SELECT 1' >/dev/null 2>&1 || true
}

# told CLIENT: the trace's line of the one connection from that address.
told() {
	wait_for 20 has_line "$1" || return
	jq -c --arg client "$1" 'select(.type == "conn" and .client == $client)' "$LAB_DIR/trace.jsonl"
}

has_line() {
	grep -q "^{\"type\":\"conn\".*\"client\":\"$1\"" "$LAB_DIR/trace.jsonl"
}

# lookups CLIENT: its lookups, one a line: asker, direction, result, name. Libraries add their own:
# libldap begins with this host's name, and libaudit resolves the client's name for PAM.
lookups() {
	told "$1" | jq -r '.lookups[] | "\(.by) \(.kind) \(.result) \(.name // "-")"'
}

# says CLIENT CONDITION: a jq CONDITION holds for its connection.
says() {
	told "$1" | jq -e "$2" >/dev/null || { told "$1"; return 1; }
}

# silent PROTOCOL ADDRESS PORT SECONDS: somebody listens there, and never answers.
silent() {
	# shellcheck disable=SC2016 # perl's own variables
	lab_in perl -MIO::Socket::INET -e '
		my ($proto, $addr, $port, $seconds) = @ARGV;
		my @listen = $proto eq "tcp" ? (Listen => 5) : ();
		my $sock = IO::Socket::INET->new(Proto => $proto, LocalAddr => $addr,
			LocalPort => $port, ReuseAddr => 1, @listen) or die "$addr:$port: $@";
		open(my $ready, ">", $ENV{READY});
		my $peer = $proto eq "tcp" ? $sock->accept : undef;
		sleep $seconds' "$@" 3>&- &
	wait_for 10 test -e "$READY"
}

@test "a host name rule makes a client without a name be looked up twice" {
	lab_pg_hba main 'host all all client-7.example trust'
	try 240
	[ "$(lookups 10.42.0.240)" = 'log_hostname reverse no-name -
hba reverse no-name -' ]
	says 10.42.0.240 '.outcome == "failed" and .lookup_count == 2 and .lookups[1].code == -2'
}

@test "a second host name rule asks nothing more" {
	lab_pg_hba main 'host all all client-7.example trust' 'host all all client-8.example trust'
	try 241
	says 10.42.0.241 '.lookup_count == 2'
}

@test "a client whose name leads back to it is looked up once each way" {
	lab_pg_hba main 'host all all client-7.example trust'
	try 7
	[ "$(lookups 10.42.0.7)" = 'log_hostname reverse name client-7.example
hba forward name client-7.example' ]
	says 10.42.0.7 '.outcome == "ready" and .lookups[1].address == "10.42.0.7" and
		.dns_us == ([.lookups[].dur_us * 1000 | round] | add) / 1000'
}

@test "a client whose name leads elsewhere is refused, and both names are told" {
	lab_pg_hba main 'host all all client-9.example trust'
	try 201
	[ "$(lookups 10.42.0.201)" = 'log_hostname reverse name client-9.example
hba forward name client-9.example' ]
	says 10.42.0.201 '.outcome == "failed" and .sqlstate == "28000" and
		.lookups[1].address == "10.42.0.9"'
}

@test "a name without an address is told as such" {
	lab_pg_hba main 'host all all elsewhere.example trust'
	try 67
	[ "$(lookups 10.42.0.67)" = 'log_hostname reverse name elsewhere.example
hba forward no-name elsewhere.example' ]
}

@test "without log_hostname a host name rule makes its own lookups" {
	lab_pg_set main log_hostname=off
	lab_pg_hba main 'host all all client-10.example trust'
	try 10
	lab_pg_set main log_hostname=on
	[ "$(lookups 10.42.0.10)" = 'hba reverse name client-10.example
hba forward name client-10.example' ]
	says 10.42.0.10 '.outcome == "ready" and .dns_us <= .phases_us.auth'
}

@test "ident looks no name up" {
	lab_pg_hba main 'host all all all ident'
	try 11
	[ "$(lookups 10.42.0.11)" = 'log_hostname reverse name client-11.example' ]
	says 10.42.0.11 '.outcome == "failed"'
}

@test "PAM with pam_use_hostname makes a lookup of its own" {
	lab_pg_hba main 'host all all all pam pamservice=permit pam_use_hostname=1'
	try 12
	[ "$(lookups 10.42.0.12 | grep -v ^auth)" = 'log_hostname reverse name client-12.example
pam reverse name client-12.example' ]
	says 10.42.0.12 '.outcome == "ready" and .within_us.pam <= .phases_us.auth'
}

@test "a directory server with a slow name is a forward lookup within auth" {
	lab_dns delay:300@'^directory[.]example'
	lab_pg_hba main 'host all all all ldap ldapserver=directory.example ldapprefix=""'
	try 13
	[ "$(lookups 10.42.0.13 | grep -v " $(uname -n)$")" = \
		'log_hostname reverse name client-13.example
auth forward name directory.example' ]
	says 10.42.0.13 '.outcome == "failed" and (.lookups[-1] | .dur_us >= 300000) and
		.lookups[-1].dur_us <= .phases_us.auth and .lookups[-1].dur_us <= .within_us.ldap'
}

@test "a directory server whose name never resolves is told when authentication fails" {
	lab_resolver 'nameserver 127.0.0.1' 'options timeout:1 attempts:2'
	lab_dns drop@'^directory[.]example'
	lab_pg_set main authentication_timeout=1s
	lab_pg_hba main 'host all all all ldap ldapserver=directory.example ldapprefix=""'
	try 14
	lab_pg_set main authentication_timeout=1min
	[ "$(lookups 10.42.0.14 | grep -v " $(uname -n)$")" = \
		'log_hostname reverse name client-14.example
auth forward failed directory.example' ]
	says 10.42.0.14 '.outcome == "failed" and .phase == "auth" and .lookups[-1].code == -3 and
		.lookups[-1].dur_us >= 1990000'
}

@test "a directory server that accepts and never answers is no lookup" {
	READY=$BATS_TEST_TMPDIR/ready silent tcp 10.43.0.1 3890 1
	lab_pg_hba main 'host all all all ldap ldapserver=10.43.0.1 ldapport=3890 ldapprefix=""'
	try 15
	[ "$(lookups 10.42.0.15 | grep -v " $(uname -n)$")" = 'log_hostname reverse name client-15.example' ]
	says 10.42.0.15 '.outcome == "failed" and .within_us.ldap >= 500000 and
		.within_us.ldap <= .phases_us.auth'
}

@test "a client that comes by IPv6 is looked up by its own address" {
	lab_client6 16 psql -Atc 'SELECT 1'
	[ "$(lookups fd42::16)" = 'log_hostname reverse name client-16.example' ]
	says fd42::16 '.lookups[0].address == "fd42::16"'
}

@test "an unknown reverse zone is no name, a refused one is a failure" {
	lab_dns refused@'^248[.]0[.]42[.]10[.]in-addr'
	try 247
	try 248
	says 10.42.0.247 '.lookups == [.lookups[0]] and .lookups[0].result == "no-name" and .lookups[0].code == 0'
	says 10.42.0.248 '.lookups == [.lookups[0]] and .lookups[0].result == "failed" and .lookups[0].code == -3'
}

@test "behind a dead nameserver a name takes one timeout" {
	READY=$BATS_TEST_TMPDIR/ready silent udp 10.43.0.99 53 5
	lab_resolver 'nameserver 10.43.0.99' 'nameserver 127.0.0.1' 'options timeout:1 attempts:2'
	try 17
	[ "$(lookups 10.42.0.17)" = 'log_hostname reverse name client-17.example' ]
	says 10.42.0.17 '.lookups[0].dur_us >= 990000'
}

@test "the resolver is told as the server sees it" {
	says_start '.resolver.nameservers == ["127.0.0.1"] and .resolver.hosts == ["files", "dns"] and
		.resolver.timeout_s == 5 and .resolver.attempts == 2 and .resolver.libc == "glibc"'
}

says_start() {
	head -n 1 "$LAB_DIR/trace.jsonl" | jq -e "$1"
}

@test "sessions that work and other processes that resolve names add no lookup" {
	local i before
	echo 'SELECT count(*), max(inet_client_addr()::text) FROM pg_stat_activity;' >"$LAB_DIR/busy.sql"
	(while :; do lab_in getent ahosts client-1.example >/dev/null; done) &
	echo $! >"$LAB_DIR/resolving"
	lab_client 18 pgbench -n -c 2 -T 3 -f "$LAB_DIR/busy.sql" >/dev/null &
	for ((i = 30; i < 50; i++)); do try "$i"; done
	wait %2
	kill "$(<"$LAB_DIR/resolving")"
	wait_for 20 has_line 10.42.0.49
	[ "$(jq -c 'select(.type == "conn" and (.client | test("^10[.]42[.]0[.](18|[34].)$"))) |
		[.lookup_count, .lookups[0].by, .lookups[0].kind, .lookups[0].result]' \
		"$LAB_DIR/trace.jsonl" | sort | uniq -c)" = '     23 [1,"log_hostname","reverse","name"]' ]
}

@test "without return probes forward lookups, ldap and pam are named as missing" {
	export LAB_TRACE=second
	lab_trace_start -p "$(lab_pg_pid main)" -q --no-return-probes -o "$LAB_DIR/second.jsonl"
	lab_pg_hba main 'host all all client-19.example trust'
	try 19
	lab_trace_wait_conns "$LAB_DIR/second.jsonl" 1
	lab_trace_stop
	jq -se '.[0].missing_lookups == ["forward"] and .[0].missing_within == ["ldap", "pam"]' \
		"$LAB_DIR/second.jsonl"
	jq -se 'map(select(.type == "conn"))[0] | .outcome == "ready" and
		(.lookups | length) == 1 and .lookups[0].result == "name"' "$LAB_DIR/second.jsonl"
}
