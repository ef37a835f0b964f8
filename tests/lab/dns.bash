# shellcheck shell=bash
# The lab's name server: dnsmasq knows the answers, dnsdist in front of it decides whether and
# when they are given. Behaviour is switched at run time, without a restart.
#
# Clients 1 to 199 have a name (client-N.example, both families), the others have none; 66
# and 67 have names that lie: another address, and a name that does not lead back.

readonly lab_dns_named=199
readonly lab_dns_backend=127.0.0.1:5300
readonly lab_dns_console=127.0.0.1:5301

# lab_resolver [LINE...]: what resolv.conf says in the lab; without LINE glibc's defaults with
# the lab's one name server. A running process sees the change at its next lookup.
lab_resolver() {
	(($#)) || set -- 'nameserver 127.0.0.1'
	printf '%s\n' "$@" >"/etc/netns/$LAB_NS/resolv.conf"
}

# lab_dns_start [DNSMASQ_OPTION...]: start the name server; it behaves well until told otherwise.
# More records can be given, such as ptr-record=9.0.42.10.in-addr.arpa,other.example
lab_dns_start() {
	lab_dns_records "$@" >"$LAB_DIR/dnsmasq.conf"
	lab_dns_front >"$LAB_DIR/dnsdist.conf"
	lab_in dnsmasq --keep-in-foreground --conf-file="$LAB_DIR/dnsmasq.conf" \
		>"$LAB_DIR/dnsmasq.log" 2>&1 3>&- &
	lab_in dnsdist --supervised --disable-syslog -C "$LAB_DIR/dnsdist.conf" \
		>"$LAB_DIR/dnsdist.log" 2>&1 3>&- &
	wait_for 10 lab_dns_tell 'showVersion()' && wait_for 10 lab_dns_answers
}

lab_dns_answers() {
	lab_in getent -s dns ahosts client-1.example
}

lab_dns_records() {
	local n
	cat <<-CONF
	port=${lab_dns_backend##*:}
	listen-address=${lab_dns_backend%:*}
	bind-interfaces
	no-resolv
	no-hosts
	user=root
	pid-file=
	local=/example/
	local=/in-addr.arpa/
	local=/ip6.arpa/
	ptr-record=66.0.42.10.in-addr.arpa,10.0.0.5
	ptr-record=67.0.42.10.in-addr.arpa,elsewhere.example
	CONF
	for ((n = 1; n <= lab_dns_named; n++)); do
		((n == 66 || n == 67)) || echo "host-record=client-$n.example,10.42.0.$n,fd42::$n"
	done
	printf '%s\n' "$@"
}

lab_dns_front() {
	cat <<-CONF
	setLocal("127.0.0.1:53")
	setSecurityPollSuffix("")
	setKey("$(head -c 32 /dev/urandom | base64)")
	controlSocket("$lab_dns_console")
	newServer("$lab_dns_backend"):setUp()
	CONF
}

# lab_dns [BEHAVIOUR[@NAMES]...]: how the name server behaves from now on. BEHAVIOUR is one of
# good, delay:MS, drop, refused, nxdomain, servfail; NAMES is a regular expression for the
# names asked for (default: all; the reverse name of 10.42.0.7 is 7.0.42.10.in-addr.arpa).
# The first that matches counts; what none matches is answered well, as is all without one:
#     lab_dns delay:5000@'[02468][.]0[.]42[.]10[.]in-addr' refused@ip6.arpa
lab_dns() {
	local rule commands='clearRules()'
	for rule; do
		commands+="; addAction(RegexRule(\"$(lab_dns_names "$rule")\"), $(lab_dns_action "$rule"))"
	done
	lab_dns_tell "$commands"
}

lab_dns_names() {
	case $1 in
	*@*) echo "${1#*@}" ;;
	*) echo '.*' ;;
	esac
}

lab_dns_action() {
	case ${1%%@*} in
	good) echo 'AllowAction()' ;;
	delay:*) echo "DelayAction($(sed 's/^delay://; s/@.*//' <<<"$1"))" ;;
	drop) echo 'DropAction()' ;;
	refused) echo 'RCodeAction(DNSRCode.REFUSED)' ;;
	nxdomain) echo 'RCodeAction(DNSRCode.NXDOMAIN)' ;;
	servfail) echo 'RCodeAction(DNSRCode.SERVFAIL)' ;;
	*) lab_die "no such behaviour of a name server: $1" ;;
	esac
}

# lab_dns_tell LUA: have the running dnsdist carry out LUA; prints its answer.
lab_dns_tell() {
	lab_in dnsdist -C "$LAB_DIR/dnsdist.conf" -e "$1"
}

# lab_dns_queries: how many questions have been asked since the start.
lab_dns_queries() {
	lab_dns_tell 'print(getStatisticsCounters()["queries"] or dumpStats())' | awk '/^[0-9]+$/ { print; exit }'
}
