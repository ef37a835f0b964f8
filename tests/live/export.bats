# Recorded traces in other formats, each read by a strict reader (tests/lab/check_export).

load ../lab/lab.bash

data=$LAB_ROOT/tests/data

# check FORMAT TRACE: export it and print what the strict reader found in it.
check() {
	"$LAB_ROOT/pgdnstrace" export "$1" -o "$BATS_TEST_TMPDIR/out" "$2"
	"$LAB_HOME/check_export" "$1" "$BATS_TEST_TMPDIR/out"
}

# total TRACE: connections that its end tells, those still in setup included.
total() {
	jq -s 'map(select(.type == "end"))[-1] | .connections - .lost' "$1"
}

@test "every recorded trace is a strict CSV with one row per connection" {
	for trace in "$data"/*.jsonl; do
		run -0 --separate-stderr check csv "$trace"
		[ "$(jq 'add // 0' <<<"$output")" -eq "$(total "$trace")" ]
	done
}

@test "every recorded trace nests as Chrome trace events, a track per connection" {
	for trace in "$data"/*.jsonl; do
		run -0 --separate-stderr check perfetto "$trace"
		[ "$(jq .tracks <<<"$output")" -eq "$(total "$trace")" ]
	done
}

@test "every recorded trace is what OTLP's messages allow, spans inside their parents" {
	for trace in "$data"/*.jsonl; do
		run -0 --separate-stderr check otlp "$trace"
		[ "$(jq '.["postgresql connect"] // 0' <<<"$output")" -eq "$(total "$trace")" ]
	done
}

@test "a hostile name changes no format" {
	jq -c 'if .type == "conn" then .user = "=1+1\",\r\n</script>\u0001" | .application = "@\ud83d\udca3\t\"" else . end' \
		"$data/healthy.jsonl" >"$BATS_TEST_TMPDIR/hostile.jsonl"
	for format in csv perfetto otlp; do
		run -0 check "$format" "$BATS_TEST_TMPDIR/hostile.jsonl"
	done
}

@test "what was read of a trace that was cut off is exported, and said to be cut off" {
	head -n 5 "$data/healthy.jsonl" >"$BATS_TEST_TMPDIR/cut.jsonl"
	run -1 --separate-stderr "$LAB_ROOT/pgdnstrace" export csv -o "$BATS_TEST_TMPDIR/out" "$BATS_TEST_TMPDIR/cut.jsonl"
	[[ $stderr == *"cut off"* ]]
	[ "$("$LAB_HOME/check_export" csv "$BATS_TEST_TMPDIR/out" | jq add)" -eq "$(grep -c '"type":"conn"' "$BATS_TEST_TMPDIR/cut.jsonl")" ]
}

@test "what is no trace is refused in a sentence" {
	: >"$BATS_TEST_TMPDIR/empty"
	head -c 100000 /dev/urandom >"$BATS_TEST_TMPDIR/garbage"
	for file in "$BATS_TEST_TMPDIR/empty" "$BATS_TEST_TMPDIR/garbage" "$data/record" "$BATS_TEST_TMPDIR/none"; do
		run -1 --separate-stderr "$LAB_ROOT/pgdnstrace" export csv "$file"
		[ "${#stderr_lines[@]}" -eq 1 ]
		[[ $stderr == *"${file##*/}"* ]]
	done
}

@test "an unknown format, or no trace, is a question of usage" {
	run -2 "$LAB_ROOT/pgdnstrace" export xml "$data/healthy.jsonl"
	[[ $output == *"no format 'xml'"* ]]
	run -2 "$LAB_ROOT/pgdnstrace" export csv
	run -0 "$LAB_ROOT/pgdnstrace" export --help
	[[ $output == *perfetto* ]]
}

@test "a reader that has seen enough is no error, a full disk is one" {
	run -0 bash -c "set -o pipefail; '$LAB_ROOT/pgdnstrace' export otlp '$data/healthy.jsonl' 2>&1 | head -c 10"
	[ "${#output}" -eq 10 ]
	run -1 bash -c "'$LAB_ROOT/pgdnstrace' export csv '$data/healthy.jsonl' 2>&1 >/dev/full"
	[[ $output == *"No space left"* ]]
}
