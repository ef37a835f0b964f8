# The screen, driven by a person's keys in a terminal: against a server whose name server goes from
# good to slow to dead and back, and on a trace of that.

setup_file() {
	load ../lab/lab.bash
	lab_begin
	lab_dns_start
	lab_pg_create screen log_hostname=on
	POSTMASTER=$(lab_pg_start screen)
	export POSTMASTER
	clients_begin
	LAB_TRACE=recorded lab_trace_start -p "$POSTMASTER" -q -d 4 -o "$BATS_FILE_TMPDIR/trace.jsonl"
}

teardown_file() {
	load ../lab/lab.bash
	lab_end
}

setup() {
	load ../lab/lab.bash
	term_begin
}

teardown() {
	term kill-server 2>/dev/null || true
	lab_dns >/dev/null
}

# Four clients that give up after 3 s and try again.
clients_begin() {
	local n
	for n in 1 2 3 4; do
		# shellcheck disable=SC2016 # expanded by the inner shell
		PGCONNECT_TIMEOUT=3 lab_client "$n" bash -c '
			while :; do
				psql -XAtqc "SELECT 1"
				sleep 0.1
			done' >/dev/null 2>&1 3>&- &
	done
}

# A terminal of our own, 80 x 24, with a shell in it.
term() {
	env -u TMUX LC_ALL=C.UTF-8 tmux -L "${LAB_DIR##*/}" -f /dev/null "$@" 3>&-
}

term_begin() {
	term new-session -d -x 80 -y 24 'env -u NO_COLOR PS1="ready> " bash --norc'
	wait_for 10 shows '^ready>'
}

screen() {
	term capture-pane -p
}

keys() {
	term send-keys "$@"
}

# shows REGEX: a row of the terminal has it.
shows() {
	screen | grep -Eq -- "$1"
}

shows_not() {
	! shows "$1"
}

# A test that waits in vain tells what it saw.
await() {
	wait_for "${2:-60}" shows "$1" && return
	echo "not seen: $1" >&2
	screen >&2
	return 1
}

await_not() {
	wait_for 60 shows_not "$1" && return
	echo "still seen: $1" >&2
	screen >&2
	return 1
}

run_in_term() {
	keys "$*" Enter
}

trace_in_term() {
	run_in_term "clear; $1 $LAB_ROOT/pgdnstrace -p $POSTMASTER ${2:-}"
	await '^PostgreSQL 15'
}

count_of() {
	screen | awk -v row="$1" '{ sub(/^[^a-z]+/, "") } $1 == row { print $2; exit }'
}

rows_grow() {
	(($(count_of "$1") > $2))
}

@test "header, phases and footer stand where they belong" {
	trace_in_term
	await ' ready'
	run screen
	[[ ${lines[0]} == 'PostgreSQL 15.'*'port 5432'*'log_hostname on'* ]]
	[[ ${lines[1]} =~ ^[0-9]+' connections  '[0-9.]+'/s  '[0-9]+' ready  '[0-9]+' gave up' ]]
	[[ ${lines[2]} == 'in setup '*'lost 0  accept queue '*'dropped 0' ]]
	[[ ${lines[3]} =~ ^[A-Z][A-Z\ ]+: ]]
	await '^ *in [0-9]+s +count +p50 +p90 +p99 +max share +1us +1ms +1s'
	await '^.wait +[1-9]'
	await '^.hostname +[0-9]+ .*[0-9]%'
	await '^q quit'
}

@test "good, slow, dead and good again: two humps, who waits, and the recovery" {
	trace_in_term
	keys Down Down Down Down
	await '^.hostname +[0-9]{2}'
	lab_dns delay:100 >/dev/null
	await '100?[0-9]ms'
	lab_dns drop >/dev/null
	await 'in setup [0-9]+, oldest [3-9]\.[0-9]s in hostname'
	await '^ .*hostname +[5-9]\.[0-9]s$'
	await '[1-9][0-9]* gave up'
	await '[0-9]+% 10\.[0-9]s' # a hump of its own, and its share
	await 'in [0-9m]+s? .*'
	screen >"$BATS_TEST_TMPDIR/incident"
	lab_dns >/dev/null
	await '^in setup [0-4]( |, oldest [0-9.]+m?s in (fork|child|startup|join|auth|prepare|hostname))' 30
	keys t
	await '^ last 1m'
	# shellcheck disable=SC2016 # a regular expression
	grep -Eq '^ .*hostname +[0-9.]+s$' "$BATS_TEST_TMPDIR/incident"
}

@test "the ages of those in setup tick" {
	local before after
	lab_dns drop >/dev/null
	trace_in_term
	await 'oldest [1-9]\.[0-9]s in hostname'
	before=$(screen | sed -En 's/.*oldest ([0-9]+)\..*/\1/p')
	after=$((before + 2))
	((after < 10)) || after=1
	await "oldest $after\.[0-9]s in hostname"
}

@test "keys do what the help says" {
	trace_in_term '' "--dir $BATS_TEST_TMPDIR"
	await '^.wait +[1-9]'
	keys '?'
	await '^help'
	await 'tab, arrows'
	keys x
	await '^.wait +[1-9]'
	keys Tab
	await 'over time wait'
	keys Tab
	await ' lookups '
	keys Tab
	await ' failures '
	keys Tab
	await ' client [0-9]+, by wait'
	keys s
	await ' client [0-9]+, by count'
	keys Down
	await '^queue [0-9]+ '
	keys t
	await '^ last 1m'
	keys t
	await '^ last 5m'
	keys t
	await '^ in [0-9]'
	keys v
	await_not '^.wait +[0-9]'
	await '^[A-Z][A-Z ]+: '
	keys x
	await '^.wait +[0-9]'
	keys w
	await "writing .*pgdnstrace-.*\\.jsonl"
}

@test "w writes an incident window and says where" {
	trace_in_term '' "--dir $BATS_TEST_TMPDIR --after 1s"
	keys w
	await 'writing .*/pgdnstrace-'
	await 'incident window written'
	[ "$(jq -r 'select(.type == "trigger") | .condition' "$BATS_TEST_TMPDIR"/pgdnstrace-*.jsonl)" = 'by hand' ]
}

@test "a pause holds the figures, a reset counts anew, a client narrows them" {
	local held
	trace_in_term
	await '^.wait +[0-9]{2}'
	keys p
	await 'PAUSED'
	held=$(count_of wait)
	lab_client 9 psql -XAtqc 'SELECT 1' >/dev/null
	keys Down Up # drawn anew, from what is held
	await '^.wait'
	[ "$(count_of wait)" -eq "$held" ]
	keys p
	await_not PAUSED
	wait_for 10 rows_grow wait "$held"
	keys r
	await 'since [0-9:]{8}'
	keys /
	await '^client .*:'
	keys 10.42.0.2 Enter
	await 'only client 10.42.0.2'
	await '^[1-9][0-9]* of [0-9]+ connections'
	keys Tab Tab Tab Tab
	await ' client 1, by wait'
	await '10\.42\.0\.2 '
	shows_not '10\.42\.0\.3 '
	keys / C-u nonsense Enter
	await 'nonsense.* is no address'
}

@test "any size of the window is filled and none is overrun" {
	trace_in_term
	await '^.wait +[1-9]'
	term resize-window -x 200 -y 60
	await 'over time wait'
	await ' client [0-9]+, by wait'
	await '^in setup [0-9]+ ─'
	term resize-window -x 40 -y 12
	await '^in setup [0-9]'
	await '^.wait +[1-9]'
	term resize-window -x 20 -y 5
	term resize-window -x 120 -y 40
	await '100us 1ms'
	[ "$(screen | wc -l)" -eq 40 ]
}

@test "without UTF-8 and colours it is ASCII and plain" {
	trace_in_term 'NO_COLOR=1 LC_ALL=C'
	await '^>wait +[0-9]+'
	keys Tab
	await 'over time wait'
	run ! grep -P '[^\x00-\x7f]' <(screen)
	run ! grep -P '\x1b\[[0-9;]*3[0-7]m' <(term capture-pane -p -e)
}

# What curses and stty know of the terminal; asked from outside, while its shell may be busy.
term_state() {
	term display-message -p '#{alternate_on} #{cursor_flag} #{keypad_cursor_flag} #{keypad_flag}'
	stty -a -F "$(term display-message -p '#{pane_tty}')"
}

term_is() {
	[ "$(term_state)" = "$1" ]
}

# Between commands the shell has the terminal in a state of its own.
state_under_a_command() {
	run_in_term 'clear; echo waiting; cat'
	await '^waiting'
	term_state
	keys C-c
}

# At once, while the tracer still takes its probes away; or its shell has the terminal again.
terminal_is_back() {
	[ "$(term display-message -p '#{alternate_on} #{cursor_flag}')" = '0 1' ]
	term_is "$1" && return
	await '^ready> *$' 30
	[ "$(state_under_a_command)" = "$1" ]
}

# The child of the terminal's own shell: the tracer of the test before may still detach.
tracer_pid() {
	pgrep -P "$(term display-message -p '#{pane_pid}')"
}

@test "after q the terminal is as before, with the summary in it" {
	local before
	before=$(state_under_a_command)
	trace_in_term
	run ! term_is "$before"
	await '^.wait +[1-9]'
	keys q
	await '^log_hostname reverse name'
	terminal_is_back "$before"
}

@test "a signal ends it with the summary on the plain terminal" {
	local before
	before=$(state_under_a_command)
	trace_in_term
	await '^.wait +[1-9]'
	kill -TERM "$(tracer_pid)"
	await '^log_hostname reverse name'
	terminal_is_back "$before"
}

@test "a crash signal gives the terminal back too" {
	local before
	before=$(state_under_a_command)
	trace_in_term
	kill -SEGV "$(tracer_pid)"
	await_not '^q quit'
	terminal_is_back "$before"
}

@test "it is suspended and comes back" {
	trace_in_term
	await '^.wait +[1-9]'
	keys C-z
	await 'Stopped'
	[ "$(term display-message -p '#{alternate_on}')" = 0 ]
	run_in_term 'fg'
	await '^.wait +[1-9]'
}

@test "a terminal that nobody knows gets text" {
	run_in_term "clear; TERM=nonsense $LAB_ROOT/pgdnstrace -p $POSTMASTER -d 2 2>$BATS_TEST_TMPDIR/err"
	wait_for 10 grep -q 'no screen: .* text instead' "$BATS_TEST_TMPDIR/err"
	await '^log_hostname reverse '
}

@test "a trace is played, paused, hastened and wound back on the same screen" {
	local file=$BATS_FILE_TMPDIR/trace.jsonl end
	wait_for 20 grep -q '"type":"end"' "$file"
	end=$(lab_trace_line "$file" end .connections)
	run_in_term "clear; TZ=UTC $LAB_ROOT/pgdnstrace replay $file"
	await 'replay x1 '
	await '^[1-9][0-9]* connections'
	keys Space
	await ' paused '
	keys +
	await 'replay x2 '
	keys -
	await 'replay x1 '
	keys End
	await "^$end connections"
	keys Home
	await '^[01] connections'
	keys ']'
	await '^[1-9][0-9]+ connections'
	keys '['
	await '^[01] connections'
	keys j nonsense Enter
	await 'no time: give HH:MM:SS'
	keys End
	await "^$end connections"
	keys / 10.42.0.3 Enter
	await "^[1-9][0-9]* of $end connections"
	keys q
	await '^ready>'
}
