# The laboratory itself: that its name server is as slow as it is told to be, that clients come
# from where they say, and that nothing is left behind.

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
	lab_dns
	lab_resolver
}

# Milliseconds that COMMAND takes.
ms() {
	local from=${EPOCHREALTIME/./}
	"$@" >/dev/null || true
	echo $(((${EPOCHREALTIME/./} - from) / 1000))
}

# The client as the server sees it: address and name.
seen_as() {
	"$@" psql -Atc 'SELECT client_addr, client_hostname FROM pg_stat_activity
		WHERE pid = pg_backend_pid()'
}

@test "a client is seen under the address and name it was given" {
	[ "$(seen_as lab_client 7)" = '10.42.0.7|client-7.example' ]
	[ "$(seen_as lab_client6 8)" = 'fd42::8|client-8.example' ]
}

@test "a client without a name is seen without one" {
	[ "$(seen_as lab_client 240)" = '10.42.0.240|' ]
}

@test "a delay of 100 ms costs a lookup and a connection 100 ms" {
	lab_dns delay:100
	[ "$(ms lab_in getent hosts 10.42.0.7)" -ge 100 ]
	[ "$(ms lab_client 7 psql -c 'SELECT 1')" -ge 100 ]
}

@test "good answers come well before a delay of 2 s would" {
	lab_dns delay:2000
	lab_dns
	[ "$(ms lab_in getent hosts 10.42.0.7)" -lt 1500 ]
}

@test "dropped questions run into the resolver's own timeout" {
	lab_dns drop
	lab_resolver 'nameserver 127.0.0.1' 'options timeout:1 attempts:1'
	[ "$(ms lab_in getent hosts 10.42.0.7)" -ge 1000 ]
	run ! lab_in getent hosts 10.42.0.7
}

@test "behaviour can differ by address and by family" {
	lab_dns delay:1000@'^7[.]0[.]42[.]10[.]in-addr' refused@ip6.arpa
	[ "$(ms lab_in getent hosts 10.42.0.7)" -ge 1000 ]
	[ "$(ms lab_in getent hosts 10.42.0.8)" -lt 800 ]
	run ! lab_in getent hosts fd42::8
	lab_in getent hosts 10.42.0.8
}

@test "every raw connection reaches the server" {
	local kind before after log
	log=$(lab_pg_home main)/log
	lab_pg_set main log_connections=on
	for kind in probe http garbage cancel half startup ask; do
		before=$(grep -c 'connection received' "$log" || true)
		lab_wire "$kind" 3
		after=$((before + 1))
		wait_for 10 grep_count "$log" "$after"
	done
}

grep_count() {
	(($(grep -c 'connection received' "$1") == $2))
}

@test "wait_for gives up after its time and says what it waited for" {
	run wait_for 1 false
	[ "$status" -eq 1 ]
	[[ $output == *'waited in vain for: false'* ]]
}

@test "the end of a lab leaves no process, namespace or file" {
	local ns dir postmaster
	postmaster=$(
		unset LAB_DIR LAB_NS
		lab_begin
		trap lab_end EXIT
		echo "$LAB_NS $LAB_DIR" >"$BATS_TEST_TMPDIR/lab"
		lab_dns_start
		lab_pg_create main
		lab_pg_start main
	)
	read -r ns dir <"$BATS_TEST_TMPDIR/lab"
	lab_gone "$postmaster"
	[ ! -e "$dir" ]
	[ ! -e "/etc/netns/$ns" ]
	[ ! -e "/run/netns/$ns" ]
	run ! pgrep -f "$dir"
}
